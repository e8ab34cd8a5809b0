// Bandwidth and throughput of the elementwise, reduction, optimizer, softmax, pooling and LRN kernels, beside memcpy.
// Bytes count every array once for each time the kernel must read or write it.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <string>
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

int g_threads = 2;

ThreadPool& pool() {
  static ThreadPool threads(g_threads);
  return threads;
}

// Values in (0.1, 1.1), where every function is regular and nothing is denormal.
std::vector<float> numbers(int64_t n) {
  std::vector<float> x(n);
  uint32_t state = 12345;
  for (float& v : x) v = 0.1f + static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
  return x;
}

void count_bytes(benchmark::State& state, int64_t floats) {
  state.SetBytesProcessed(state.iterations() * floats * static_cast<int64_t>(sizeof(float)));
}

constexpr int64_t kBig = int64_t{1} << 24;  // 64 MiB an array: beyond every cache

void memcpy_big(benchmark::State& state) {
  std::vector<float> x = numbers(kBig), y(kBig);
  for (auto _ : state) {
    pool().parallel_for(kBig, 1 << 16, [&](int64_t begin, int64_t end) {
      std::memcpy(&y[begin], &x[begin], static_cast<size_t>(end - begin) * sizeof(float));
    });
    benchmark::ClobberMemory();
  }
  count_bytes(state, 2 * kBig);
}
BENCHMARK(memcpy_big)->UseRealTime()->Unit(benchmark::kMillisecond);

// One thread, one tile in the first-level cache: what an instruction of a fused chain costs.
void unary_in_cache(benchmark::State& state, UnaryFn fn) {
  std::vector<float> x = numbers(kTileFloats), y(kTileFloats);
  const UnaryTile f = unary_tile(fn);
  for (auto _ : state) {
    f(x.data(), y.data(), kTileFloats);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kTileFloats);
}
void binary_in_cache(benchmark::State& state, BinaryFn fn, Operands operands) {
  std::vector<float> a = numbers(kTileFloats), b = numbers(kTileFloats), y(kTileFloats);
  const BinaryTile f = binary_tile(fn, operands);
  for (auto _ : state) {
    f(a.data(), b.data(), y.data(), kTileFloats);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kTileFloats);
}
#define WEIR_UNARY(fn) BENCHMARK_CAPTURE(unary_in_cache, fn, UnaryFn::fn)
WEIR_UNARY(Identity);
WEIR_UNARY(Relu);
WEIR_UNARY(Sqrt);
WEIR_UNARY(Rsqrt);
WEIR_UNARY(Exp);
WEIR_UNARY(Expm1);
WEIR_UNARY(Log);
WEIR_UNARY(Log1p);
WEIR_UNARY(Tanh);
WEIR_UNARY(Sigmoid);
WEIR_UNARY(Elu);
WEIR_UNARY(Softplus);
WEIR_UNARY(Sin);
WEIR_UNARY(Erf);
WEIR_UNARY(Round);
#define WEIR_BINARY(fn, kind) BENCHMARK_CAPTURE(binary_in_cache, fn##_##kind, BinaryFn::fn, Operands::kind)
WEIR_BINARY(Add, VV);
WEIR_BINARY(Mul, VS);
WEIR_BINARY(Div, VV);
WEIR_BINARY(Maximum, VV);
WEIR_BINARY(Less, VS);
WEIR_BINARY(Pow, VV);
WEIR_BINARY(ReluGrad, VV);
WEIR_BINARY(TanhGrad, VV);
WEIR_BINARY(FloorMod, VS);

void add_big(benchmark::State& state) {
  std::vector<float> a = numbers(kBig), b = numbers(kBig), y(kBig);
  const BinaryTile f = binary_tile(BinaryFn::Add, Operands::VV);
  for (auto _ : state) {
    pool().parallel_for(kBig, 1 << 16,
                        [&](int64_t begin, int64_t end) { f(&a[begin], &b[begin], &y[begin], end - begin); });
    benchmark::ClobberMemory();
  }
  count_bytes(state, 3 * kBig);
}
BENCHMARK(add_big)->UseRealTime()->Unit(benchmark::kMillisecond);

void reduction(benchmark::State& state, ReduceFn fn, ReduceShape shape) {
  const int64_t n = shape.outer * shape.reduced * shape.inner;
  std::vector<float> x = numbers(n), y(shape.outer * shape.inner), scratch(reduce_scratch_bytes(shape) / sizeof(float));
  for (auto _ : state) {
    reduce(fn, x.data(), shape, y.data(), scratch.data(), pool());
    benchmark::ClobberMemory();
  }
  count_bytes(state, n);
}
#define WEIR_REDUCTION(name, fn, ...)                                       \
  BENCHMARK_CAPTURE(reduction, name, ReduceFn::fn, ReduceShape __VA_ARGS__) \
      ->UseRealTime()                                                       \
      ->Unit(benchmark::kMicrosecond)
WEIR_REDUCTION(sum_big, Sum, {1, kBig, 1});
WEIR_REDUCTION(l2_big, SumSquares, {1, kBig, 1});
WEIR_REDUCTION(max_big, Max, {1, kBig, 1});
WEIR_REDUCTION(bias_grad_73728x64, Sum, {1, 73728, 64});
WEIR_REDUCTION(bias_grad_128x10, Sum, {1, 128, 10});
WEIR_REDUCTION(bias_grad_100000x10, Sum, {1, 100000, 10});
WEIR_REDUCTION(rows_10000x10, Sum, {10000, 10, 1});
WEIR_REDUCTION(mean_pool_128x64x512, Mean, {128, 64, 512});
WEIR_REDUCTION(columns_4x1M, Sum, {1, 4, 1 << 20});

void update_sgd(benchmark::State& state) {
  std::vector<float> var = numbers(kBig), grad = numbers(kBig);
  for (auto _ : state) apply_gradient_descent(var.data(), grad.data(), kBig, 1e-9f, pool());
  count_bytes(state, 3 * kBig);
}
BENCHMARK(update_sgd)->UseRealTime()->Unit(benchmark::kMillisecond);

void update_momentum(benchmark::State& state) {
  std::vector<float> var = numbers(kBig), accum = numbers(kBig), grad = numbers(kBig);
  for (auto _ : state)
    apply_momentum(var.data(), accum.data(), grad.data(), kBig, {.lr = 1e-9f, .momentum = 0.9f}, pool());
  count_bytes(state, 5 * kBig);
}
BENCHMARK(update_momentum)->UseRealTime()->Unit(benchmark::kMillisecond);

void update_adam(benchmark::State& state) {
  std::vector<float> var = numbers(kBig), m = numbers(kBig), v = numbers(kBig), grad = numbers(kBig);
  const AdamOptions options = {
      .lr = 1e-9f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .beta1_power = 0.9f, .beta2_power = 0.999f};
  for (auto _ : state) apply_adam(var.data(), m.data(), v.data(), grad.data(), kBig, options, pool());
  count_bytes(state, 7 * kBig);
}
BENCHMARK(update_adam)->UseRealTime()->Unit(benchmark::kMillisecond);

void softmax_rows(benchmark::State& state) {
  const int64_t rows = state.range(0), classes = state.range(1), n = rows * classes;
  std::vector<float> x = numbers(n), y(n);
  for (auto _ : state) softmax(x.data(), y.data(), rows, classes, pool());
  count_bytes(state, 2 * n);
}
BENCHMARK(softmax_rows)
    ->Args({100, 10})
    ->Args({10000, 10})
    ->Args({128, 1000})
    ->Args({64, 32000})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void cross_entropy_rows(benchmark::State& state) {
  const int64_t rows = state.range(0), classes = state.range(1), n = rows * classes;
  std::vector<float> x = numbers(n), labels(n), loss(rows), backprop(n);
  for (int64_t r = 0; r < rows; ++r) labels[r * classes + r % classes] = 1;
  for (auto _ : state)
    softmax_cross_entropy(x.data(), labels.data(), rows, classes, loss.data(), backprop.data(), pool());
  count_bytes(state, 3 * n);
}
BENCHMARK(cross_entropy_rows)->Args({100, 10})->Args({128, 1000})->UseRealTime()->Unit(benchmark::kMicrosecond);

void sparse_cross_entropy_rows(benchmark::State& state) {
  const int64_t rows = state.range(0), classes = state.range(1), n = rows * classes;
  std::vector<float> x = numbers(n), loss(rows), backprop(n);
  std::vector<int64_t> labels(rows);
  for (int64_t r = 0; r < rows; ++r) labels[r] = r % classes;
  for (auto _ : state)
    sparse_softmax_cross_entropy(x.data(), labels.data(), rows, classes, loss.data(), backprop.data(), pool());
  count_bytes(state, 2 * n);
}
BENCHMARK(sparse_cross_entropy_rows)->Args({100, 10})->Args({128, 1000})->UseRealTime()->Unit(benchmark::kMicrosecond);

void bias_rows(benchmark::State& state) {
  const int64_t rows = state.range(0), channels = state.range(1), n = rows * channels;
  std::vector<float> x = numbers(n), bias = numbers(channels), y(n);
  for (auto _ : state) add_bias(x.data(), bias.data(), y.data(), rows, channels, Activation::Relu, pool());
  count_bytes(state, 2 * n);
}
BENCHMARK(bias_rows)
    ->Args({100, 10})
    ->Args({73728, 64})
    ->Args({100000, 10})
    ->Args({128, 384})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

// The first pooling layers of the CIFAR-10 model (3x3, stride 2) and of a LeNet (2x2, stride 2).
const Pool2dShape kCifarPool = {.batch = 128,
                                .in_height = 24,
                                .in_width = 24,
                                .out_height = 12,
                                .out_width = 12,
                                .channels = 64,
                                .window_height = 3,
                                .window_width = 3,
                                .stride_height = 2,
                                .stride_width = 2};
const Pool2dShape kLenetPool = {.batch = 128,
                                .in_height = 28,
                                .in_width = 28,
                                .out_height = 14,
                                .out_width = 14,
                                .channels = 32,
                                .window_height = 2,
                                .window_width = 2,
                                .stride_height = 2,
                                .stride_width = 2};

enum class Pooling { Max, Avg, MaxGrad, AvgGrad };
void pooling(benchmark::State& state, Pooling which, const Pool2dShape& s) {
  const int64_t in = s.batch * s.in_height * s.in_width * s.channels,
                out = s.batch * s.out_height * s.out_width * s.channels;
  std::vector<float> x = numbers(in), y(out), dy = numbers(out), dx(in);
  max_pool(x.data(), y.data(), s, pool());
  for (auto _ : state) {
    switch (which) {
      case Pooling::Max:
        max_pool(x.data(), y.data(), s, pool());
        break;
      case Pooling::Avg:
        avg_pool(x.data(), y.data(), s, pool());
        break;
      case Pooling::MaxGrad:
        max_pool_grad(x.data(), y.data(), dy.data(), dx.data(), s, pool());
        break;
      case Pooling::AvgGrad:
        avg_pool_grad(dy.data(), dx.data(), s, pool());
        break;
    }
  }
  count_bytes(state, which == Pooling::MaxGrad ? 2 * in + 2 * out : in + out);
}
#define WEIR_POOLING(name, which, shape) \
  BENCHMARK_CAPTURE(pooling, name, Pooling::which, shape)->UseRealTime()->Unit(benchmark::kMicrosecond)
WEIR_POOLING(max_3x3_2, Max, kCifarPool);
WEIR_POOLING(max_grad_3x3_2, MaxGrad, kCifarPool);
WEIR_POOLING(avg_3x3_2, Avg, kCifarPool);
WEIR_POOLING(avg_grad_3x3_2, AvgGrad, kCifarPool);
WEIR_POOLING(max_2x2_2, Max, kLenetPool);
WEIR_POOLING(max_grad_2x2_2, MaxGrad, kLenetPool);

// The normalisation of the CIFAR-10 model.
void lrn_cifar(benchmark::State& state, bool gradient, float beta) {
  constexpr int64_t kPixels = 128 * 12 * 12, kChannels = 64, n = kPixels * kChannels;
  const LrnOptions options = {.depth_radius = 4, .bias = 1, .alpha = 0.001f / 9, .beta = beta};
  std::vector<float> x = numbers(n), y(n), dy = numbers(n), dx(n);
  lrn(x.data(), y.data(), kPixels, kChannels, options, pool());
  for (auto _ : state) {
    if (gradient)
      lrn_grad(dy.data(), x.data(), y.data(), dx.data(), kPixels, kChannels, options, pool());
    else
      lrn(x.data(), y.data(), kPixels, kChannels, options, pool());
  }
  count_bytes(state, gradient ? 4 * n : 2 * n);
}
BENCHMARK_CAPTURE(lrn_cifar, forward_075, false, 0.75f)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(lrn_cifar, backward_075, true, 0.75f)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(lrn_cifar, forward_06, false, 0.6f)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(lrn_cifar, backward_06, true, 0.6f)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace weir::cpu

// --threads=N first, then the benchmark library's own options.
int main(int argc, char** argv) {
  if (argc > 1 && std::strncmp(argv[1], "--threads=", 10) == 0) {
    weir::cpu::g_threads = std::atoi(argv[1] + 10);
    argv[1] = argv[0];
    ++argv, --argc;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
