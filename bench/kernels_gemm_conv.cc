// Matrix products and convolutions of Weir beside oneDNN's, on the same number of threads.
//
//   kernels_gemm_conv [threads] [filter]
//
// Times are the best of many short rounds that alternate between the two, each in its own quiet spell, because idle
// OpenMP threads spin for a while and would take the other's cores.

#include <fmt/format.h>

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/gemm.h"
#ifdef WEIR_HAVE_DNNL
#include <dnnl.hpp>
#endif

namespace {

using weir::ThreadPool;

class Buffer {
 public:
  explicit Buffer(size_t bytes) : data_(::operator new(std::max<size_t>(bytes, 64), std::align_val_t(64))) {}
  ~Buffer() { ::operator delete(data_, std::align_val_t(64)); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data() const { return data_; }
  float* floats() const { return static_cast<float*>(data_); }

 private:
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
  report(name, 2.0 * static_cast<double>(m * n) * static_cast<double>(k), compare(bodies, bench.pool.threads() == 1));
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
  for (const Layer& l : {Layer{128, 2304, 384}, {128, 384, 192}, {128, 192, 10}, {50, 3136, 1024}, {50, 1024, 10},
                         {100, 784, 500}, {100, 784, 10}, {128, 1024, 1024}}) {
    bench_gemm(bench, l.batch, l.out, l.in, false, false);
    bench_gemm(bench, l.batch, l.in, l.out, false, true);
    bench_gemm(bench, l.in, l.out, l.batch, true, false);
  }
  bench_gemm(bench, 1, 1024, 1024, false, false);
  bench_gemm(bench, 1, 1024, 1024, false, true);
  bench_gemm(bench, 1024, 1, 1024, false, false);
  bench_gemm(bench, 1024, 1, 1024, true, false);
  bench_gemm(bench, 25, 32, 39200, true, false);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : static_cast<int>(std::thread::hardware_concurrency());
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
}
