// Speed of the elementwise, reduction, optimizer, softmax, pooling and LRN kernels, beside memcpy.
//
//   kernels_elementwise [threads] [part of a name]
//
// Times are the best of many runs, the only figure that a busy machine does not spoil. Bytes count an array once for
// each time the kernel must read or write it; memcpy's rate at the same size class is what memory gives.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/lrn.h"
#include "devices/cpu/pool2d.h"
#include "devices/cpu/reduce.h"
#include "devices/cpu/rows.h"
#include "devices/cpu/tile.h"
#include "devices/cpu/update.h"

namespace weir::cpu {
namespace {

using Floats = std::vector<float>;

// Values in (0.1, 1.1), where every function is regular and nothing is denormal.
Floats numbers(int64_t n) {
  Floats x(n);
  uint32_t state = 12345;
  for (float& v : x) v = 0.1f + static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
  return x;
}

class Bench {
 public:
  Bench(int threads, std::string_view only) : pool(threads), only_(only) {}

  // One line: the kernel's time, and its rate over `floats` floats read and written.
  template <class F>
  void operator()(const std::string& name, int64_t floats, F f) {
    if (name.find(only_) == std::string::npos) return;
    using Clock = std::chrono::steady_clock;
    double best = 1e30;
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(300);
    do {
      const Clock::time_point start = Clock::now();
      f();
      best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    } while (Clock::now() < end);
    fmt::print("{:<32} {:>10.2f} us {:>8.2f} GB/s\n", name, best * 1e6, static_cast<double>(floats) * 4e-9 / best);
  }

  ThreadPool pool;

 private:
  std::string only_;
};

constexpr int64_t kBig = int64_t{1} << 24;  // 64 MiB an array: beyond every cache

void memory(Bench& bench) {
  for (int64_t n : {kBig, int64_t{1} << 21}) {
    Floats x = numbers(n), y(n), z(n);
    bench(fmt::format("memcpy {} MiB", n >> 18), 2 * n, [&] {
      bench.pool.parallel_for(n, 1 << 15, [&](int64_t begin, int64_t end) {
        std::memcpy(&y[begin], &x[begin], static_cast<size_t>(end - begin) * sizeof(float));
      });
    });
    bench(fmt::format("add {} MiB", n >> 18), 3 * n, [&, add = binary_tile(BinaryFn::Add, Operands::VV)] {
      bench.pool.parallel_for(n, 1 << 15,
                              [&](int64_t begin, int64_t end) { add(&x[begin], &y[begin], &z[begin], end - begin); });
    });
  }
}

// One thread, tiles in the first-level cache: what an instruction of a fused chain costs. A hundred calls a run, as one
// is too short for the clock.
void tiles(Bench& bench) {
  constexpr int kCalls = 100;
  Floats a = numbers(kTileFloats), b = numbers(kTileFloats), y(kTileFloats);
  const std::pair<const char*, UnaryFn> unary[] = {
      {"Identity", UnaryFn::Identity}, {"Relu", UnaryFn::Relu},         {"Sqrt", UnaryFn::Sqrt},
      {"Rsqrt", UnaryFn::Rsqrt},       {"Exp", UnaryFn::Exp},           {"Expm1", UnaryFn::Expm1},
      {"Log", UnaryFn::Log},           {"Log1p", UnaryFn::Log1p},       {"Tanh", UnaryFn::Tanh},
      {"Sigmoid", UnaryFn::Sigmoid},   {"Softplus", UnaryFn::Softplus}, {"Sin", UnaryFn::Sin},
      {"Erf", UnaryFn::Erf},           {"Round", UnaryFn::Round}};
  for (auto [name, fn] : unary)
    bench(fmt::format("100 tiles {}", name), 2 * kCalls * kTileFloats, [&, f = unary_tile(fn)] {
      for (int i = 0; i < kCalls; ++i) f(a.data(), y.data(), kTileFloats);
    });
  const std::pair<const char*, BinaryFn> binary[] = {
      {"Add", BinaryFn::Add},           {"Mul", BinaryFn::Mul},          {"Div", BinaryFn::Div},
      {"Maximum", BinaryFn::Maximum},   {"Pow", BinaryFn::Pow},          {"FloorMod", BinaryFn::FloorMod},
      {"ReluGrad", BinaryFn::ReluGrad}, {"TanhGrad", BinaryFn::TanhGrad}};
  for (auto [name, fn] : binary)
    bench(fmt::format("100 tiles {}", name), 3 * kCalls * kTileFloats, [&, f = binary_tile(fn, Operands::VV)] {
      for (int i = 0; i < kCalls; ++i) f(a.data(), b.data(), y.data(), kTileFloats);
    });
}

void reductions(Bench& bench) {
  struct {
    const char* name;
    ReduceFn fn;
    ReduceShape shape;
  } const cases[] = {
      {"sum 64 MiB", ReduceFn::Sum, {1, kBig, 1}},
      {"l2 64 MiB", ReduceFn::SumSquares, {1, kBig, 1}},
      {"max 64 MiB", ReduceFn::Max, {1, kBig, 1}},
      {"bias grad 73728x64", ReduceFn::Sum, {1, 73728, 64}},
      {"bias grad 100000x10", ReduceFn::Sum, {1, 100000, 10}},
      {"bias grad 128x10", ReduceFn::Sum, {1, 128, 10}},
      {"row sums 10000x10", ReduceFn::Sum, {10000, 10, 1}},
      {"mean 128x64x512 of the middle", ReduceFn::Mean, {128, 64, 512}},
      {"column sums 4x1048576", ReduceFn::Sum, {1, 4, 1 << 20}},
  };
  for (const auto& c : cases) {
    const int64_t n = c.shape.outer * c.shape.reduced * c.shape.inner;
    Floats x = numbers(n), y(c.shape.outer * c.shape.inner), scratch(reduce_scratch_bytes(c.shape) / sizeof(float));
    bench(c.name, n, [&] { reduce(c.fn, x.data(), c.shape, y.data(), scratch.data(), bench.pool); });
  }
}

void updates(Bench& bench) {
  Floats var = numbers(kBig), a = numbers(kBig), b = numbers(kBig), grad = numbers(kBig);
  bench("gradient descent 64 MiB", 3 * kBig,
        [&] { apply_gradient_descent(var.data(), grad.data(), kBig, 1e-9f, bench.pool); });
  bench("momentum 64 MiB", 5 * kBig,
        [&] { apply_momentum(var.data(), a.data(), grad.data(), kBig, {.lr = 1e-9f, .momentum = 0.9f}, bench.pool); });
  const AdamOptions adam = {
      .lr = 1e-9f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .beta1_power = 0.9f, .beta2_power = 0.999f};
  bench("adam 64 MiB", 7 * kBig,
        [&] { apply_adam(var.data(), a.data(), b.data(), grad.data(), kBig, adam, bench.pool); });
}

void rows(Bench& bench) {
  for (auto [count, classes] : {std::pair<int64_t, int64_t>{100, 10}, {10000, 10}, {128, 1000}, {64, 32000}}) {
    const int64_t n = count * classes;
    Floats x = numbers(n), y(n), labels(n), loss(count);
    std::vector<int64_t> label(count);
    for (int64_t r = 0; r < count; ++r) labels[r * classes + r % classes] = 1, label[r] = r % classes;
    const std::string shape = fmt::format("{}x{}", count, classes);
    bench("softmax " + shape, 2 * n, [&] { softmax(x.data(), y.data(), count, classes, bench.pool); });
    bench("cross entropy " + shape, 3 * n,
          [&] { softmax_cross_entropy(x.data(), labels.data(), count, classes, loss.data(), y.data(), bench.pool); });
    bench("sparse cross entropy " + shape, 2 * n, [&] {
      sparse_softmax_cross_entropy(x.data(), label.data(), count, classes, loss.data(), y.data(), bench.pool);
    });
  }
  for (auto [count, channels] : {std::pair<int64_t, int64_t>{100, 10}, {100000, 10}, {73728, 64}, {128, 384}}) {
    Floats x = numbers(count * channels), bias = numbers(channels), y(count * channels);
    bench(fmt::format("bias + relu {}x{}", count, channels), 2 * count * channels,
          [&] { add_bias(x.data(), bias.data(), y.data(), count, channels, RowActivation::Relu, bench.pool); });
  }
}

// The first pooling layers of the CIFAR-10 model and of a LeNet.
void pools(Bench& bench) {
  const Pool2dShape cifar = {.batch = 128,
                             .in_height = 24,
                             .in_width = 24,
                             .out_height = 12,
                             .out_width = 12,
                             .channels = 64,
                             .window_height = 3,
                             .window_width = 3,
                             .stride_height = 2,
                             .stride_width = 2};
  const Pool2dShape lenet = {.batch = 128,
                             .in_height = 28,
                             .in_width = 28,
                             .out_height = 14,
                             .out_width = 14,
                             .channels = 32,
                             .window_height = 2,
                             .window_width = 2,
                             .stride_height = 2,
                             .stride_width = 2};
  for (const Pool2dShape& s : {cifar, lenet}) {
    const int64_t in = s.batch * s.in_height * s.in_width * s.channels;
    const int64_t out = s.batch * s.out_height * s.out_width * s.channels;
    Floats x = numbers(in), y(out), dy = numbers(out), dx(in);
    const std::string shape = fmt::format("{0}x{0}/2 {1}x{1}x{2}", s.window_height, s.in_height, s.channels);
    bench("avg pool " + shape, in + out, [&] { avg_pool(x.data(), y.data(), s, bench.pool); });
    bench("avg pool grad " + shape, in + out, [&] { avg_pool_grad(dy.data(), dx.data(), s, bench.pool); });
    bench("max pool " + shape, in + out, [&] { max_pool(x.data(), y.data(), s, bench.pool); });
    max_pool(x.data(), y.data(), s, bench.pool);
    bench("max pool grad " + shape, 2 * (in + out),
          [&] { max_pool_grad(x.data(), y.data(), dy.data(), dx.data(), s, bench.pool); });
  }
}

// The normalisation of the CIFAR-10 model, and one with a power that takes exp and log.
void normalisation(Bench& bench) {
  constexpr int64_t kPixels = 128 * 12 * 12, kChannels = 64, n = kPixels * kChannels;
  Floats x = numbers(n), y(n), dy = numbers(n), dx(n);
  for (float beta : {0.75f, 0.6f}) {
    const LrnOptions options = {.depth_radius = 4, .bias = 1, .alpha = 0.001f / 9, .beta = beta};
    bench(fmt::format("lrn 128x12x12x64 beta {}", beta), 2 * n,
          [&] { lrn(x.data(), y.data(), kPixels, kChannels, options, bench.pool); });
    bench(fmt::format("lrn grad 128x12x12x64 beta {}", beta), 4 * n,
          [&] { lrn_grad(dy.data(), x.data(), y.data(), dx.data(), kPixels, kChannels, options, bench.pool); });
  }
}

}  // namespace
}  // namespace weir::cpu

int main(int argc, char** argv) {
  using namespace weir::cpu;
  Bench bench(argc > 1 ? std::max(1, std::atoi(argv[1])) : 2, argc > 2 ? argv[2] : "");
  for (auto* part : {memory, tiles, reductions, updates, rows, pools, normalisation}) part(bench);
}
