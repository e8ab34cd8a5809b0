// Single kernels, each as a session runs it. bench/ops.py asks for them and puts other systems' times beside.
//
//   bench_ops [--threads N]
//
// Reads rows of bench/ops.tsv from the standard input ("matmul<tab>m=64 n=64 k=64") and answers each with one line: the
// best time of one short round, in seconds. Two more rows tell what the machine can do: "peak_flops" with the floating
// point operations a second that all threads reach together, and "copy<tab>bytes=N" with the time in which they move
// that many bytes, read and written.

#include <time.h>
#include <weir/weir.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace weir;

namespace {

// Wall time. With one thread it is that thread's processor time, to which other programs add little.
clockid_t clock_id = CLOCK_MONOTONIC;

double now() {
  timespec time;
  clock_gettime(clock_id, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Seconds of one call: the best of the blocks of a round of 30 ms.
double best_of_round(const std::function<void()>& body) {
  constexpr double kRound = 0.03, kBlock = 0.0005;
  body();  // warms caches and threads
  double best = 1e30;
  int repeats = 1;
  for (const double end = now() + kRound; now() < end;) {
    const double begin = now();
    for (int i = 0; i < repeats; ++i) body();
    best = std::min(best, (now() - begin) / repeats);
    repeats = std::clamp(static_cast<int>(kBlock / std::max(best, 1e-9)), 1, 10000);
  }
  return best;
}

// Runs body(thread) on all threads at once.
void on_threads(int threads, const std::function<void(int)>& body) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(body, i);
  body(0);
  for (std::thread& other : others) other.join();
}

typedef float V4 __attribute__((vector_size(16)));
typedef float V8 __attribute__((vector_size(32)));
typedef float V16 __attribute__((vector_size(64)));

// Twelve independent chains of multiply-adds hide the latency of one another.
template <class V>
[[gnu::always_inline]] inline float multiply_add(int64_t steps) {
  constexpr int kChains = 12;
  V sum[kChains] = {};
#pragma GCC unroll 12
  for (V& v : sum) asm volatile("" : "+x"(v));  // or the compiler would see twelve times the same chain
  V factor = 0.5f - V{}, term = 1.0f - V{};
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < kChains; ++j) sum[j] = sum[j] * factor + term;
  }
  V total{};
  for (const V& v : sum) total += v;
  return total[0];
}
float multiply_add_baseline(int64_t steps) { return multiply_add<V4>(steps); }
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] float multiply_add_avx2(int64_t steps) { return multiply_add<V8>(steps); }
[[gnu::target("avx512f")]] float multiply_add_avx512(int64_t steps) { return multiply_add<V16>(steps); }
#endif

double peak_flops(int threads) {
  float (*run)(int64_t) = multiply_add_baseline;
  int lanes = 4;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    run = multiply_add_avx512;
    lanes = 16;
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    run = multiply_add_avx2;
    lanes = 8;
  }
#endif
  constexpr int64_t kSteps = 200000;
  std::vector<double> best(static_cast<size_t>(threads), 1e30);
  on_threads(threads, [&](int thread) {
    for (int i = 0; i < 20; ++i) {
      const double begin = now();
      volatile float sink = run(kSteps);
      (void)sink;
      best[static_cast<size_t>(thread)] = std::min(best[static_cast<size_t>(thread)], now() - begin);
    }
  });
  return 2.0 * lanes * 12 * kSteps * threads / *std::max_element(best.begin(), best.end());
}

// Each thread copies its share of half the bytes to another place, again and again: no waiting for each other.
double copy_seconds(int64_t bytes, int threads) {
  const auto share = static_cast<size_t>(std::max<int64_t>(64, bytes / 2 / threads));
  std::vector<double> best(static_cast<size_t>(threads));
  on_threads(threads, [&](int thread) {
    // Tensors, because they begin on cache lines: some processors copy other ranges at a tenth of the speed.
    Tensor from(uint8, {static_cast<int64_t>(share)}), to(uint8, {static_cast<int64_t>(share)});
    std::memset(from.mutable_raw(), 1, share);
    std::memset(to.mutable_raw(), 1, share);
    best[static_cast<size_t>(thread)] = best_of_round([&] {
      std::memcpy(to.mutable_raw(), from.mutable_raw(), share);
      asm volatile("" ::: "memory");
    });
  });
  return *std::max_element(best.begin(), best.end());
}

class Sizes {
 public:
  explicit Sizes(const std::string& text) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      if (equals == std::string::npos) throw std::runtime_error("'" + word + "' is not name=number");
      values_[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
    }
  }
  int64_t operator[](const std::string& name) const {
    auto it = values_.find(name);
    if (it == values_.end()) throw std::runtime_error("the row has no " + name);
    return it->second;
  }
  bool flag(const std::string& name) const { return values_.contains(name) && values_.at(name) != 0; }

 private:
  std::map<std::string, int64_t> values_;
};

Tensor uniform(const Shape& shape, float least = -1) {
  Tensor t(float32, shape);
  std::mt19937 generator(0);
  std::uniform_real_distribution<float> distribution(least, 1);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<float>()[i] = distribution(generator);
  return t;
}
Tensor indices(int64_t count, int64_t bound) {
  Tensor t(int32, {count});
  std::mt19937 generator(1);
  for (int64_t i = 0; i < count; ++i) {
    t.mutable_data<int32_t>()[i] = static_cast<int32_t>(generator() % static_cast<uint32_t>(bound));
  }
  return t;
}

// A graph with one kernel between what is fed and what is fetched.
struct Case {
  Graph graph;
  std::vector<Feed> feeds;
  std::vector<Output> fetches;
  std::vector<Operation> targets;

  Output feed(const Tensor& value) {
    feeds.push_back({graph.placeholder(value.dtype(), value.shape()), value});
    return feeds.back().output;
  }
};

void matmul_case(Case& c, const Sizes& s) {
  const bool ta = s.flag("ta"), tb = s.flag("tb");
  Output a = c.feed(uniform(ta ? Shape{s["k"], s["m"]} : Shape{s["m"], s["k"]}));
  Output b = c.feed(uniform(tb ? Shape{s["n"], s["k"]} : Shape{s["k"], s["n"]}));
  c.fetches = {matmul(a, b, {.transpose_a = ta, .transpose_b = tb})};
}

Shape image(const Sizes& s, const char* channels) { return {s["batch"], s["size"], s["size"], s[channels]}; }
Shape filter(const Sizes& s) { return {s["filter"], s["filter"], s["in"], s["out"]}; }
Tensor sizes_of(const Shape& shape) {
  Tensor t(int32, {shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) t.mutable_data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
  return t;
}

int64_t stride(const Sizes& s) { return s.flag("stride") ? s["stride"] : 1; }
nn::Conv2dOptions conv(const Sizes& s) { return {.strides = {1, stride(s), stride(s), 1}}; }
Shape conv_output(const Sizes& s) {
  const int64_t size = (s["size"] + stride(s) - 1) / stride(s);
  return {s["batch"], size, size, s["out"]};
}
void conv2d_case(Case& c, const Sizes& s) {
  c.fetches = {nn::conv2d(c.feed(uniform(image(s, "in"))), c.feed(uniform(filter(s))), conv(s))};
}
void conv2d_input_case(Case& c, const Sizes& s) {
  Output sizes = c.graph.constant(sizes_of(image(s, "in"))), taps = c.feed(uniform(filter(s)));
  c.fetches = {nn::conv2d_backprop_input(sizes, taps, c.feed(uniform(conv_output(s))), conv(s))};
}
void conv2d_filter_case(Case& c, const Sizes& s) {
  Output x = c.feed(uniform(image(s, "in"))), sizes = c.graph.constant(sizes_of(filter(s)));
  c.fetches = {nn::conv2d_backprop_filter(x, sizes, c.feed(uniform(conv_output(s))), conv(s))};
}

nn::PoolOptions pool(const Sizes& s) { return {.ksize = {1, s["window"], s["window"], 1}}; }
void max_pool_case(Case& c, const Sizes& s) {
  c.fetches = {nn::max_pool(c.feed(uniform(image(s, "channels"))), pool(s))};
}
void max_pool_grad_case(Case& c, const Sizes& s) {
  const Tensor x = uniform(image(s, "channels"));
  Graph g;
  const Tensor y = Session(g).run(nn::max_pool(g.constant(x), pool(s)));
  Output from = c.feed(x), to = c.feed(y);
  c.fetches = {nn::max_pool_grad(from, to, c.feed(uniform(y.shape())), pool(s))};
}

// A gradient alone: what it reads of the forward pass is fed or cheap to have.
void gradient_case(Case& c, const Output& y, const std::vector<Output>& of) {
  Output dy = c.feed(uniform(y.shape()));
  for (const Gradient& gradient : gradients({y}, of, {.grad_ys = {dy}})) c.fetches.push_back(gradient.dense());
}
Output depthwise(const Output& x, const Output& taps, const Sizes& s) {
  return nn::depthwise_conv2d(x, taps, {.strides = {1, s["stride"], s["stride"], 1}, .padding = "SAME"});
}
Shape volume(const Sizes& s) { return {s["batch"], s["size"], s["size"], s["size"], s["channels"]}; }
void volume_pool_case(Case& c, const Sizes& s) { c.fetches = {nn::max_pool3d(c.feed(uniform(volume(s))))}; }
void volume_pool_grad_case(Case& c, const Sizes& s) {
  Output x = c.feed(uniform(volume(s)));
  gradient_case(c, nn::max_pool3d(x), {x});
}

Output mirrored(const Output& x, const Sizes& s) {
  const int by = static_cast<int>(s["by"]);
  return mirror_pad(x, {{0, 0}, {by, by}, {by, by}, {0, 0}}, MirrorMode::Reflect);
}
void mirror_pad_case(Case& c, const Sizes& s) { c.fetches = {mirrored(c.feed(uniform(image(s, "channels"))), s)}; }
void mirror_pad_grad_case(Case& c, const Sizes& s) {
  Output x = c.feed(uniform(image(s, "channels")));
  gradient_case(c, mirrored(x, s), {x});
}

// Channels in groups, as group normalisation sees them.
Shape groups(const Sizes& s) { return {s["batch"], s["size"], s["size"], s["groups"], s["channels"] / s["groups"]}; }
void group_mean_case(Case& c, const Sizes& s) {
  c.fetches = {reduce_mean(c.feed(uniform(groups(s))), {.axes = {1, 2, 4}, .keep_dims = true})};
}
void group_difference_case(Case& c, const Sizes& s) {
  Output means = c.feed(uniform({s["batch"], 1, 1, s["groups"], 1}));
  c.fetches = {squared_difference(c.feed(uniform(groups(s))), means)};
}

// What each capsule of a layer says to each of the next: both factors repeat along runs of a few elements.
void votes_case(Case& c, const Sizes& s) {
  Output x = c.feed(uniform({s["batch"], s["in"], 1, s["width"]}));
  Output y = x * c.feed(uniform({s["in"], s["out"], s["width"]}));
  Output weights = c.feed(uniform({s["batch"], s["in"], s["out"], 1}));
  c.fetches = {reduce_sum(y * weights, {.axes = {1}})};
}

struct DepthwiseInputs {
  Output x, taps;
};
DepthwiseInputs depthwise_inputs(Case& c, const Sizes& s) {
  Output x = c.feed(uniform(image(s, "channels")));
  return {x, c.feed(uniform({s["filter"], s["filter"], s["channels"], 1}))};
}
void depthwise_case(Case& c, const Sizes& s) {
  auto [x, taps] = depthwise_inputs(c, s);
  c.fetches = {depthwise(x, taps, s)};
}
void depthwise_input_case(Case& c, const Sizes& s) {
  auto [x, taps] = depthwise_inputs(c, s);
  gradient_case(c, depthwise(x, taps, s), {x});
}
void depthwise_filter_case(Case& c, const Sizes& s) {
  auto [x, taps] = depthwise_inputs(c, s);
  gradient_case(c, depthwise(x, taps, s), {taps});
}

// In training, with the rectifier that follows; the gradient with the forward pass before it, whose moments it needs.
Output normalised(Case& c, const Sizes& s, std::vector<Output>& inputs) {
  Output scale = c.feed(uniform({s["channels"]}, 0)), offset = c.feed(uniform({s["channels"]}));
  const bool planes = s.flag("planes");  // the channels before the pixels
  const Shape images = {s["batch"], s["channels"], s["size"], s["size"]};
  inputs = {c.feed(uniform(planes ? images : image(s, "channels"))), scale, offset};
  return nn::relu(nn::fused_batch_norm(inputs[0], scale, offset, {.data_format = planes ? "NCHW" : "NHWC"}).y);
}
void batch_norm_case(Case& c, const Sizes& s) {
  std::vector<Output> inputs;
  c.fetches = {normalised(c, s, inputs)};
}
void batch_norm_grad_case(Case& c, const Sizes& s) {
  std::vector<Output> inputs;
  Output y = normalised(c, s, inputs);
  gradient_case(c, y, inputs);
}

// The gradient of max(x, 0.2 x), as programs write a leaky rectifier.
void leaky_grad_case(Case& c, const Sizes& s) {
  Output x = c.feed(uniform({s["elements"]}));
  gradient_case(c, maximum(x, x * 0.2f), {x});
}
void select_case(Case& c, const Sizes& s) {
  Tensor at = indices(s["elements"], 2);
  Tensor condition(DType::Bool, {s["elements"]});
  std::transform(at.data<int32_t>().begin(), at.data<int32_t>().end(), condition.mutable_data<bool>(),
                 [](int32_t i) { return i != 0; });
  Output a = c.feed(uniform({s["elements"]})), b = c.feed(uniform({s["elements"]}));
  c.fetches = {where(c.feed(condition), a, b)};
}

const nn::LrnOptions kLrn = {.depth_radius = 4, .bias = 1, .alpha = 0.001f / 9, .beta = 0.75f};
void lrn_case(Case& c, const Sizes& s) { c.fetches = {nn::lrn(c.feed(uniform(image(s, "channels"))), kLrn)}; }
void lrn_grad_case(Case& c, const Sizes& s) {
  const Tensor x = uniform(image(s, "channels"));
  Graph g;
  const Tensor y = Session(g).run(nn::lrn(g.constant(x), kLrn));
  Output from = c.feed(x), to = c.feed(y);
  c.fetches = {nn::lrn_grad(c.feed(uniform(x.shape())), from, to, kLrn)};
}

// Loss and gradient, as a training step wants both.
void cross_entropy_case(Case& c, const Sizes& s) {
  Output logits = c.feed(uniform({s["batch"], s["classes"]}));
  Output loss = nn::sparse_softmax_cross_entropy_with_logits(c.feed(indices(s["batch"], s["classes"])), logits);
  c.fetches = {reduce_mean(loss)};
  c.fetches.push_back(gradients({c.fetches[0]}, {logits})[0].dense());
}

void bias_grad_case(Case& c, const Sizes& s) {
  c.fetches = {nn::bias_add_grad(c.feed(uniform({s["rows"], s["columns"]})))};
}
void dropout_case(Case& c, const Sizes& s) { c.fetches = {nn::dropout(c.feed(uniform({s["elements"]})), 0.5f)}; }

template <class Optimizer>
void update(Case& c, const Sizes& s, Optimizer&& optimizer) {
  Variable weights = c.graph.variable("weights", uniform({s["elements"]}));
  c.targets = {optimizer.apply_gradients({{c.feed(uniform({s["elements"]})), weights}})};
}
void adam_case(Case& c, const Sizes& s) { update(c, s, train::Adam(1e-3f)); }
void momentum_case(Case& c, const Sizes& s) { update(c, s, train::Momentum(1e-3f, 0.9f)); }
void gradient_descent_case(Case& c, const Sizes& s) { update(c, s, train::GradientDescent(1e-3f)); }

void concat_case(Case& c, const Sizes& s) {
  Output a = c.feed(uniform({s["rows"], s["columns"]})), b = c.feed(uniform({s["rows"], s["columns"]}));
  c.fetches = {concat({a, b}, 1)};
}
void split_case(Case& c, const Sizes& s) { c.fetches = split(c.feed(uniform({s["rows"], s["columns"]})), 2, 1); }
void gather_case(Case& c, const Sizes& s) {
  Output table = c.feed(uniform({s["rows"], s["columns"]}));
  c.fetches = {gather(table, c.feed(indices(s["count"], s["rows"])))};
}
void sparse_update_case(Case& c, const Sizes& s) {
  Variable table = c.graph.variable("table", uniform({s["rows"], s["columns"]}));
  Output at = c.feed(indices(s["count"], s["rows"]));
  c.targets = {scatter_sub(table, at, c.feed(uniform({s["count"], s["columns"]})) * 1e-3f).op()};
}

// Rows of a table and of their sums of squares; equal indices are summed first.
void sparse_adagrad_case(Case& c, const Sizes& s) {
  Variable table = c.graph.variable("table", uniform({s["rows"], s["columns"]}));
  Output at = c.feed(indices(s["count"], s["rows"]));
  const IndexedSlices grad{c.feed(uniform({s["count"], s["columns"]})), at, {}};
  c.targets = {train::Adagrad(1e-3f).apply_gradients({{grad, table}})};
}

void segment_mean_case(Case& c, const Sizes& s) {
  Tensor ids = indices(s["rows"], s["segments"]);
  std::sort(ids.mutable_data<int32_t>(), ids.mutable_data<int32_t>() + ids.elements());
  c.fetches = {segment_mean(c.feed(uniform({s["rows"], s["columns"]})), c.feed(ids))};
}

void resize_bilinear_case(Case& c, const Sizes& s) {
  const int64_t to = s["to"];
  Output images = c.feed(uniform({s["batch"], s["size"], s["size"], s["channels"]}));
  c.fetches = {image::resize_bilinear(images, {to, to})};
}
void resize_bicubic_case(Case& c, const Sizes& s) {
  const int64_t to = s["to"];
  Output images = c.feed(uniform({s["batch"], s["size"], s["size"], s["channels"]}));
  c.fetches = {image::resize_bicubic(images, {to, to})};
}
void adjust_contrast_case(Case& c, const Sizes& s) {
  c.fetches = {image::adjust_contrast(c.feed(uniform({s["batch"], s["size"], s["size"], s["channels"]})), 1.5f)};
}
void adjust_saturation_case(Case& c, const Sizes& s) {
  c.fetches = {image::adjust_saturation(c.feed(uniform({s["batch"], s["size"], s["size"], 3})), 1.5f)};
}
// A smooth picture with a little noise, as photographs are.
Tensor photograph(int64_t size) {
  Tensor pixels(uint8, {size, size, 3});
  uint32_t noise = 1;
  for (int64_t i = 0; i < pixels.elements(); ++i) {
    noise = noise * 1664525 + 1013904223;
    const int64_t x = i / 3 % size, y = i / 3 / size;
    pixels.mutable_data<uint8_t>()[i] = static_cast<uint8_t>((x + y) * 200 / (2 * size) + (noise >> 27));
  }
  return pixels;
}
void decode_jpeg_case(Case& c, const Sizes& s) {
  c.fetches = {image::decode_jpeg(c.feed(Tensor(encode_jpeg(photograph(s["size"])))), {.channels = 3})};
}

const std::map<std::string, void (*)(Case&, const Sizes&)> kCases = {
    {"matmul", matmul_case},
    {"conv2d", conv2d_case},
    {"conv2d_input", conv2d_input_case},
    {"conv2d_filter", conv2d_filter_case},
    {"depthwise", depthwise_case},
    {"depthwise_input", depthwise_input_case},
    {"depthwise_filter", depthwise_filter_case},
    {"batch_norm", batch_norm_case},
    {"batch_norm_grad", batch_norm_grad_case},
    {"leaky_grad", leaky_grad_case},
    {"select", select_case},
    {"max_pool", max_pool_case},
    {"max_pool_grad", max_pool_grad_case},
    {"volume_pool", volume_pool_case},
    {"volume_pool_grad", volume_pool_grad_case},
    {"mirror_pad", mirror_pad_case},
    {"mirror_pad_grad", mirror_pad_grad_case},
    {"group_mean", group_mean_case},
    {"group_difference", group_difference_case},
    {"votes", votes_case},
    {"lrn", lrn_case},
    {"lrn_grad", lrn_grad_case},
    {"cross_entropy", cross_entropy_case},
    {"bias_grad", bias_grad_case},
    {"dropout", dropout_case},
    {"adam", adam_case},
    {"momentum", momentum_case},
    {"gradient_descent", gradient_descent_case},
    {"concat", concat_case},
    {"split", split_case},
    {"gather", gather_case},
    {"sparse_update", sparse_update_case},
    {"sparse_adagrad", sparse_adagrad_case},
    {"segment_mean", segment_mean_case},
    {"resize_bilinear", resize_bilinear_case},
    {"resize_bicubic", resize_bicubic_case},
    {"adjust_contrast", adjust_contrast_case},
    {"adjust_saturation", adjust_saturation_case},
    {"decode_jpeg", decode_jpeg_case},
};

// A row, ready to be called.
class Runner {
 public:
  Runner(const std::string& kernel, const Sizes& sizes, int threads) {
    auto found = kCases.find(kernel);
    if (found == kCases.end()) throw std::runtime_error("there is no kernel " + kernel);
    found->second(case_, sizes);
    session_ = std::make_unique<Session>(case_.graph, SessionOptions{.intra_op_parallelism_threads = threads,
                                                                     .direct_convolutions = sizes.flag("direct")});
    session_->run(case_.graph.global_variables_initializer());
    CallableSpec spec{.fetches = case_.fetches, .targets = case_.targets};
    for (const Feed& feed : case_.feeds) {
      spec.feeds.push_back(feed.output);
      values_.push_back(feed.value);
    }
    results_.resize(case_.fetches.size());
    callable_ = std::make_unique<Session::Callable>(session_->make_callable(spec));
  }

  void operator()() {
    for (Tensor& result : results_) result = {};  // the buffers go back to the plan
    callable_->call(values_, results_);
  }

 private:
  Case case_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Session::Callable> callable_;
  std::vector<Tensor> values_, results_;
};

}  // namespace

int main(int argc, char** argv) {
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  if (argc == 3 && std::string(argv[1]) == "--threads") threads = std::max(1, std::atoi(argv[2]));
  if (threads == 1) clock_id = CLOCK_THREAD_CPUTIME_ID;
  std::string row, current;
  std::unique_ptr<Runner> runner;
  while (std::getline(std::cin, row)) {
    try {
      const std::string kernel = row.substr(0, row.find('\t'));
      const Sizes sizes(kernel.size() < row.size() ? row.substr(kernel.size() + 1) : "");
      if (kernel == "peak_flops") {
        std::printf("%.9e\n", peak_flops(threads));
      } else if (kernel == "copy") {
        std::printf("%.9e\n", copy_seconds(sizes["bytes"], threads));
      } else {
        if (row != current) {
          runner = nullptr;
          runner = std::make_unique<Runner>(kernel, sizes, threads);
          current = row;
        }
        std::printf("%.9e\n", best_of_round([&] { (*runner)(); }));
      }
    } catch (const std::exception& e) {
      std::printf("error %s\n", e.what());
    }
    std::fflush(stdout);
  }
}
