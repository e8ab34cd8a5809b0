// A^n on one device, B^n on another and their sum on the CPU; timed with both on the first device, and on two.
//
//   matpow [--size 1000] [--power 10] [--runs 5] [--virtual-gpus 0] [--devices /cpu:0,/cpu:1]

#include <weir/weir.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

using namespace weir;

struct Flags {
  int64_t size = 1000;
  int power = 10, runs = 5, virtual_gpus = 0;
  std::string first = "/cpu:0", second = "/cpu:1";
};

Output matpow(const Output& matrix, int n) { return n == 1 ? matrix : matmul(matrix, matpow(matrix, n - 1)); }

Tensor random_matrix(int64_t size, unsigned seed) {
  Tensor t(float32, {size, size});
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(0, 1.f / static_cast<float>(size));
  std::generate_n(t.mutable_data<float>(), t.elements(), [&] { return uniform(engine); });
  return t;
}

struct Timed {
  double seconds;
  Tensor sum;
};

// With A's power on the first device and B's on the second.
Timed timed(const Flags& flags, const std::string& first, const std::string& second) {
  Graph g;
  Output a = g.placeholder(float32, {flags.size, flags.size}), b = g.placeholder(float32, {flags.size, flags.size});
  Output power_of_a, power_of_b, total;
  {
    Scope device = g.device(first);
    power_of_a = matpow(a, flags.power);
  }
  {
    Scope device = g.device(second);
    power_of_b = matpow(b, flags.power);
  }
  {
    Scope cpu = g.device("/cpu:0");
    total = add_n({power_of_a, power_of_b});
  }
  Session session(g, {.device_count = {{"CPU", 2}}, .virtual_gpus = {.count = flags.virtual_gpus}});
  auto step = session.make_callable({.feeds = {a, b}, .fetches = {total}});
  const Tensor as = random_matrix(flags.size, 1), bs = random_matrix(flags.size, 2);
  Timed result{1e9, step(as, bs)[0]};
  for (int i = 0; i < flags.runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    step(as, bs);
    result.seconds =
        std::min(result.seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return result;
}

bool close(const Tensor& a, const Tensor& b) {
  return std::equal(a.data<float>().begin(), a.data<float>().end(), b.data<float>().begin(),
                    [](float x, float y) { return std::abs(x - y) <= 1e-5f * std::abs(y); });
}

void run(const Flags& flags) {
  const Timed one = timed(flags, flags.first, flags.first);
  std::printf("one device:  %.4f s\n", one.seconds);
  const Timed two = timed(flags, flags.first, flags.second);
  std::printf("two devices: %.4f s\n", two.seconds);
  std::printf("the sums agree: %s\n", close(two.sum, one.sum) ? "True" : "False");
}

int main(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--size") {
      flags.size = std::max(1, std::atoi(value.c_str()));
    } else if (flag == "--power") {
      flags.power = std::max(1, std::atoi(value.c_str()));
    } else if (flag == "--runs") {
      flags.runs = std::max(1, std::atoi(value.c_str()));
    } else if (flag == "--virtual-gpus") {
      flags.virtual_gpus = std::max(0, std::atoi(value.c_str()));
    } else if (size_t comma = value.find(','); flag == "--devices" && comma != std::string::npos) {
      flags.first = value.substr(0, comma);
      flags.second = value.substr(comma + 1);
    } else {
      argc = 0;
    }
  }
  if (argc % 2 == 0) {
    std::fprintf(stderr,
                 "usage: matpow [--size N] [--power N] [--runs N] [--virtual-gpus N] [--devices FIRST,SECOND]\n");
    return 2;
  }
  try {
    run(flags);
  } catch (const Error& e) {
    std::fprintf(stderr, "matpow: %s\n", e.what());
    return 1;
  }
}
