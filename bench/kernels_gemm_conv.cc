// Matrix products and convolutions of Weir beside oneDNN's, on the same number of threads.
//
//   kernels_gemm_conv [threads] [filter]
//
// Times are the best of many short rounds that alternate between the two, each in its own quiet spell, because idle
// OpenMP threads spin for a while and would take the other's cores.

#include <fmt/format.h>

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/conv.h"
#include "devices/cpu/gemm.h"
#ifdef WEIR_HAVE_DNNL
#include <dnnl.hpp>
#endif

namespace {

using weir::ThreadPool;

class Buffer {
 public:
  // On large pages, as the tensors of a session are.
  explicit Buffer(size_t bytes) : data_(::operator new(std::max<size_t>(bytes, 64), std::align_val_t(kAlignment))) {
    madvise(data_, bytes / kAlignment * kAlignment, MADV_HUGEPAGE);
  }
  ~Buffer() { ::operator delete(data_, std::align_val_t(kAlignment)); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data() const { return data_; }
  float* floats() const { return static_cast<float*>(data_); }

 private:
  static constexpr size_t kAlignment = 2 << 20;
  void* data_;
};

void fill(float* data, int64_t count) {
  uint32_t state = 12345;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    data[i] = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
}

// With one thread, processor time: what other programs take does not count.
double now(bool one_thread) {
  timespec time;
  clock_gettime(one_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Best seconds for each of the bodies (an empty one gives infinity).
std::vector<double> compare(const std::vector<std::function<void()>>& bodies, bool one_thread) {
  constexpr double kRound = 0.02, kMeasure = 0.0005;  // the latter is below a scheduler's time slice
  constexpr int kRounds = 9;
  std::vector<double> best(bodies.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < bodies.size(); ++i) {
      if (!bodies[i]) continue;
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      bodies[i]();  // warms caches and threads
      const double start = now(one_thread);
      int repeats = 1;
      for (double begin = start; begin < start + kRound;) {
        for (int repeat = 0; repeat < repeats; ++repeat) bodies[i]();
        const double end = now(one_thread), once = (end - begin) / repeats;
        best[i] = std::min(best[i], once);
        repeats = std::clamp(static_cast<int>(kMeasure / std::max(best[i], 1e-9)), 1, 1000);
        begin = end;
      }
    }
  }
  return best;
}

void report(const std::string& name, double flops, const std::vector<double>& seconds) {
  auto column = [&](double s) {
    return s == std::numeric_limits<double>::infinity() ? fmt::format("{:>11} {:>8}", "-", "-")
                                                        : fmt::format("{:11.1f} {:8.1f}", s * 1e6, flops / s * 1e-9);
  };
  fmt::print("{:<44} {}  {}  {:6.2f}\n", name, column(seconds[0]), column(seconds[1]), seconds[1] / seconds[0]);
  std::fflush(stdout);
}

struct Bench {
  ThreadPool& pool;
  std::string filter;
  bool wants(const std::string& name) const { return name.find(filter) != std::string::npos; }
};

void bench_gemm(const Bench& bench, int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b) {
  const std::string name =
      fmt::format("gemm {}x{}x{}{}{}", m, n, k, transpose_a ? " a^T" : "", transpose_b ? " b^T" : "");
  if (!bench.wants(name)) return;
  Buffer a(static_cast<size_t>(m * k) * 4), b(static_cast<size_t>(k * n) * 4), c(static_cast<size_t>(m * n) * 4);
  fill(a.floats(), m * k);
  fill(b.floats(), k * n);
  const weir::cpu::Gemm<float> gemm = {.m = m,
                                       .n = n,
                                       .k = k,
                                       .a = a.floats(),
                                       .lda = transpose_a ? m : k,
                                       .transpose_a = transpose_a,
                                       .b = b.floats(),
                                       .ldb = transpose_b ? k : n,
                                       .transpose_b = transpose_b,
                                       .c = c.floats(),
                                       .ldc = n};
  Buffer scratch(gemm_scratch_bytes(gemm, bench.pool.threads()));
  std::vector<std::function<void()>> bodies = {[&] { weir::cpu::gemm(bench.pool, gemm, scratch.data()); }, nullptr};
#ifdef WEIR_HAVE_DNNL
  bodies[1] = [&] {
    dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, gemm.a, gemm.lda, gemm.b, gemm.ldb,
               0.0f, gemm.c, gemm.ldc);
  };
#endif
  const double flops = 2.0 * static_cast<double>(m * n) * static_cast<double>(k);
  report(name, flops, compare(bodies, bench.pool.threads() == 1));
}

// Beside a product with a matrix that was packed before (left), one that packs for itself.
void bench_packed(const Bench& bench, int64_t m, int64_t n, int64_t k, bool transpose_b) {
  const std::string name = fmt::format("gemm {}x{}x{}{} packed before", m, n, k, transpose_b ? " b^T" : "");
  if (!bench.wants(name)) return;
  Buffer a(static_cast<size_t>(m * k) * 4), b(static_cast<size_t>(k * n) * 4), c(static_cast<size_t>(m * n) * 4);
  Buffer packed(static_cast<size_t>(weir::cpu::packed_matrix_elements<float>(k, n)) * 4);
  fill(a.floats(), m * k);
  fill(b.floats(), k * n);
  const weir::cpu::PackMatrix<float> pack = {
      .k = k, .n = n, .b = b.floats(), .ldb = transpose_b ? k : n, .transpose = transpose_b, .packed = packed.floats()};
  const weir::cpu::Gemm<float> plain = {.m = m,
                                        .n = n,
                                        .k = k,
                                        .a = a.floats(),
                                        .lda = k,
                                        .b = b.floats(),
                                        .ldb = pack.ldb,
                                        .transpose_b = transpose_b,
                                        .c = c.floats(),
                                        .ldc = n};
  weir::cpu::Gemm<float> gemm = plain;
  gemm.b = packed.floats();
  gemm.packed_b = true;
  Buffer scratch(
      std::max(gemm_scratch_bytes(gemm, bench.pool.threads()), gemm_scratch_bytes(plain, bench.pool.threads())));
  pack_matrix(bench.pool, pack);
  const double flops = 2.0 * static_cast<double>(m * n) * static_cast<double>(k);
  const bool one_thread = bench.pool.threads() == 1;
  report(name, flops,
         compare({[&] { weir::cpu::gemm(bench.pool, gemm, scratch.data()); },
                  [&] { weir::cpu::gemm(bench.pool, plain, scratch.data()); }},
                 one_thread));
  report(name + ": packing", flops, compare({[&] { pack_matrix(bench.pool, pack); }, nullptr}, one_thread));
}

void bench_gemms(const Bench& bench) {
  bench_gemm(bench, 1024, 1024, 1024, false, false);
  bench_gemm(bench, 1024, 1024, 1024, true, false);
  bench_gemm(bench, 1024, 1024, 1024, false, true);
  bench_gemm(bench, 512, 512, 512, false, false);
  bench_gemm(bench, 256, 256, 256, false, false);
  bench_gemm(bench, 64, 64, 64, false, false);
  // The dense layers of the MNIST and CIFAR-10 models: forward, gradient of the input, gradient of the weights.
  struct Layer {
    int64_t batch, in, out;
  };
  for (const Layer& l : {Layer{128, 2304, 384},
                         {128, 384, 192},
                         {128, 192, 10},
                         {50, 3136, 1024},
                         {50, 1024, 10},
                         {100, 784, 500},
                         {100, 784, 10},
                         {128, 1024, 1024}}) {
    bench_gemm(bench, l.batch, l.out, l.in, false, false);
    bench_gemm(bench, l.batch, l.in, l.out, false, true);
    bench_gemm(bench, l.in, l.out, l.batch, true, false);
  }
  bench_gemm(bench, 1, 1024, 1024, false, false);
  bench_gemm(bench, 1, 1024, 1024, false, true);
  bench_gemm(bench, 1024, 1, 1024, false, false);
  bench_gemm(bench, 1024, 1, 1024, true, false);
  bench_gemm(bench, 25, 32, 39200, true, false);
  // Dense layers of a transformer, and heads of its attention; the classes of a language model.
  for (const Layer& l : std::initializer_list<Layer>{{1024, 256, 256},
                                                     {1024, 256, 1024},
                                                     {1024, 1024, 256},
                                                     {128, 64, 128},
                                                     {128, 128, 64},
                                                     {700, 650, 10000},
                                                     {700, 1300, 2600}}) {
    bench_gemm(bench, l.batch, l.out, l.in, false, false);
    bench_gemm(bench, l.batch, l.in, l.out, false, true);
    bench_gemm(bench, l.in, l.out, l.batch, true, false);
  }
  // The weights of recurrent layers, with which every step of a sequence multiplies.
  for (int64_t batch : {1, 8, 20, 64}) {
    bench_packed(bench, batch, 2600, 1300, false);
    bench_packed(bench, batch, 1300, 2600, true);
  }
  bench_packed(bench, 64, 400, 200, false);
}

#ifdef WEIR_HAVE_DNNL
// oneDNN's convolutions on the same plain layouts (NHWC, HWIO).
class Dnnl {
 public:
  Dnnl(const weir::cpu::ConvParams& p, float* input, float* filter, float* output)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using Memory = dnnl::memory;
    using Tag = Memory::format_tag;
    constexpr auto f32 = Memory::data_type::f32;
    const Memory::desc src({p.batch, p.in_c, p.in_h, p.in_w}, f32, Tag::nhwc);
    const Memory::desc weights({p.out_c, p.in_c, p.k_h, p.k_w}, f32, Tag::hwio);
    const Memory::desc weights_any({p.out_c, p.in_c, p.k_h, p.k_w}, f32, Tag::any);
    const Memory::desc dst({p.batch, p.out_c, p.out_h(), p.out_w()}, f32, Tag::nhwc);
    const Memory::dims strides = {p.stride_h, p.stride_w};
    const Memory::dims before = {p.pad_top, p.pad_left}, after = {p.pad_bottom, p.pad_right};
    const auto algorithm = dnnl::algorithm::convolution_direct;
    Memory source(src, engine_, input), plain(weights, engine_, filter), dest(dst, engine_, output);

    const dnnl::convolution_forward::primitive_desc forward_desc(
        {dnnl::prop_kind::forward_training, algorithm, src, weights_any, dst, strides, before, after}, engine_);
    // Weights change with every step of training, so their way into the library's layout belongs to the time.
    auto add = [&](dnnl::primitive primitive, std::unordered_map<int, Memory> args) {
      return [this, primitive, args] { primitive.execute(stream_, args); };
    };
    Memory packed(forward_desc.weights_desc(), engine_);
    const auto pack = add(dnnl::reorder(plain, packed), {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, packed}});
    const auto run_forward = add(dnnl::convolution_forward(forward_desc),
                                 {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_DST, dest}});
    forward = [=, this] { pack(), run_forward(), stream_.wait(); };

    const dnnl::convolution_backward_data::primitive_desc data_desc(
        {algorithm, src, weights_any, dst, strides, before, after}, engine_, forward_desc);
    Memory packed_back(data_desc.weights_desc(), engine_);
    const auto pack_back = add(dnnl::reorder(plain, packed_back), {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, packed_back}});
    const auto run_data =
        add(dnnl::convolution_backward_data(data_desc),
            {{DNNL_ARG_DIFF_DST, dest}, {DNNL_ARG_WEIGHTS, packed_back}, {DNNL_ARG_DIFF_SRC, source}});
    backward_input = [=, this] { pack_back(), run_data(), stream_.wait(); };

    const dnnl::convolution_backward_weights::primitive_desc weights_desc(
        {algorithm, src, weights_any, dst, strides, before, after}, engine_, forward_desc);
    Memory grad(weights_desc.diff_weights_desc(), engine_);
    const auto run_weights = add(dnnl::convolution_backward_weights(weights_desc),
                                 {{DNNL_ARG_SRC, source}, {DNNL_ARG_DIFF_DST, dest}, {DNNL_ARG_DIFF_WEIGHTS, grad}});
    const auto unpack = add(dnnl::reorder(grad, plain), {{DNNL_ARG_FROM, grad}, {DNNL_ARG_TO, plain}});
    backward_filter = [=, this] { run_weights(), unpack(), stream_.wait(); };
  }

  std::function<void()> forward, backward_input, backward_filter;

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
};
#endif

void bench_conv(const Bench& bench, const weir::cpu::ConvParams& p) {
  const std::string name =
      fmt::format("conv {}x{}x{}x{}->{} {}x{}/{}", p.batch, p.in_h, p.in_w, p.in_c, p.out_c, p.k_h, p.k_w, p.stride_h);
  if (!bench.wants(name + " forward") && !bench.wants(name + " to input") && !bench.wants(name + " to filter")) return;
  const int64_t input_size = p.batch * p.in_h * p.in_w * p.in_c, filter_size = p.k_h * p.k_w * p.in_c * p.out_c,
                output_size = p.batch * p.out_h() * p.out_w() * p.out_c;
  Buffer input(static_cast<size_t>(input_size) * 4), filter(static_cast<size_t>(filter_size) * 4),
      output(static_cast<size_t>(output_size) * 4);
  fill(input.floats(), input_size);
  fill(filter.floats(), filter_size);
  fill(output.floats(), output_size);
  const int threads = bench.pool.threads();
  Buffer scratch(std::max({weir::cpu::conv_forward_scratch_bytes<float>(p, threads),
                           weir::cpu::conv_backward_input_scratch_bytes<float>(p, threads),
                           weir::cpu::conv_backward_filter_scratch_bytes<float>(p, threads)}));
  std::vector<std::function<void()>> forward = {[&] {
                                                  weir::cpu::conv_forward<float>(bench.pool, p, input.floats(),
                                                                                 filter.floats(), {}, output.floats(),
                                                                                 scratch.data());
                                                },
                                                nullptr};
  std::vector<std::function<void()>> backward_input = {[&] {
                                                         weir::cpu::conv_backward_input<float>(
                                                             bench.pool, p, filter.floats(), output.floats(),
                                                             input.floats(), scratch.data());
                                                       },
                                                       nullptr};
  std::vector<std::function<void()>> backward_filter = {[&] {
                                                          weir::cpu::conv_backward_filter<float>(
                                                              bench.pool, p, input.floats(), output.floats(),
                                                              filter.floats(), scratch.data());
                                                        },
                                                        nullptr};
#ifdef WEIR_HAVE_DNNL
  const Dnnl dnnl(p, input.floats(), filter.floats(), output.floats());
  forward[1] = dnnl.forward;
  backward_input[1] = dnnl.backward_input;
  backward_filter[1] = dnnl.backward_filter;
#endif
  const double flops = 2.0 * static_cast<double>(output_size) * static_cast<double>(p.k_h * p.k_w * p.in_c);
  auto run = [&](const char* what, const std::vector<std::function<void()>>& bodies) {
    // Results feed no later run with growing numbers: each kind starts from the same values.
    fill(input.floats(), input_size);
    fill(filter.floats(), filter_size);
    fill(output.floats(), output_size);
    if (bench.wants(name + what)) report(name + what, flops, compare(bodies, threads == 1));
  };
  run(" forward", forward);
  run(" to input", backward_input);
  run(" to filter", backward_filter);
}

void bench_convs(const Bench& bench) {
  auto same = [](int64_t batch, int64_t size, int64_t in_c, int64_t out_c, int64_t k, int64_t stride) {
    const int64_t total = std::max<int64_t>(0, ((size + stride - 1) / stride - 1) * stride + k - size);
    return weir::cpu::ConvParams{.batch = batch,
                                 .in_h = size,
                                 .in_w = size,
                                 .in_c = in_c,
                                 .k_h = k,
                                 .k_w = k,
                                 .out_c = out_c,
                                 .stride_h = stride,
                                 .stride_w = stride,
                                 .pad_top = total / 2,
                                 .pad_bottom = total - total / 2,
                                 .pad_left = total / 2,
                                 .pad_right = total - total / 2};
  };
  bench_conv(bench, same(128, 24, 3, 64, 5, 1));
  bench_conv(bench, same(128, 12, 64, 64, 5, 1));
  bench_conv(bench, same(50, 28, 1, 32, 5, 1));
  bench_conv(bench, same(50, 14, 32, 64, 5, 1));
  bench_conv(bench, same(16, 28, 128, 128, 3, 1));
  bench_conv(bench, same(16, 56, 64, 64, 3, 1));
  bench_conv(bench, same(16, 28, 128, 256, 3, 2));
  bench_conv(bench, same(16, 28, 128, 256, 1, 1));
  bench_conv(bench, same(16, 7, 512, 512, 3, 1));
  // ResNet-50: what a stage has in each of its blocks, then the convolutions that lead to it.
  bench_conv(bench, same(8, 224, 3, 64, 7, 2));
  for (int64_t size = 56, width = 64; size >= 7; size /= 2, width *= 2) {
    bench_conv(bench, same(8, size, 4 * width, width, 1, 1));
    bench_conv(bench, same(8, size, width, width, 3, 1));
    bench_conv(bench, same(8, size, width, 4 * width, 1, 1));
    if (size == 7) break;
    bench_conv(bench, same(8, size, 4 * width, 8 * width, 1, 2));
    bench_conv(bench, same(8, size, 2 * width, 2 * width, 3, 2));
  }
  // MobileNet, DCGAN, VGG, U-Net.
  bench_conv(bench, same(8, 128, 3, 32, 3, 2));
  bench_conv(bench, same(8, 64, 32, 64, 1, 1));
  bench_conv(bench, same(8, 8, 512, 512, 1, 1));
  bench_conv(bench, same(8, 4, 1024, 1024, 1, 1));
  bench_conv(bench, same(64, 28, 1, 64, 5, 2));
  bench_conv(bench, same(64, 14, 64, 128, 5, 2));
  bench_conv(bench, same(8, 112, 3, 64, 3, 1));
  bench_conv(bench, same(2, 112, 64, 64, 3, 1));
  bench_conv(bench, same(2, 56, 256, 256, 3, 1));
  bench_conv(bench, same(2, 64, 64, 2, 1, 1));
  bench_conv(bench, same(2, 64, 128, 64, 2, 2));
  // Of autoencoders and of networks that transfer styles.
  bench_conv(bench, same(32, 32, 32, 64, 4, 2));
  bench_conv(bench, same(2, 96, 3, 32, 9, 1));
  bench_conv(bench, same(2, 96, 32, 3, 9, 1));
}

}  // namespace

int main(int argc, char** argv) {
  const int threads =
      argc > 1 ? std::max(1, std::atoi(argv[1])) : static_cast<int>(std::thread::hardware_concurrency());
#ifdef WEIR_HAVE_DNNL
  if (!getenv("OMP_NUM_THREADS")) {  // OpenMP has read its environment before main: begin anew
    setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
    execvp(argv[0], argv);
  }
#endif
  ThreadPool pool(threads);
  const Bench bench = {pool, argc > 2 ? argv[2] : ""};
  fmt::print("{} threads, {}\n", threads, weir::cpu::isa_name(weir::cpu::isa()));
  fmt::print("{:<44} {:>11} {:>8}  {:>11} {:>8}  {:>6}\n", "", "weir us", "GFLOP/s", "oneDNN us", "GFLOP/s", "ratio");
  bench_gemms(bench);
  bench_convs(bench);
}
