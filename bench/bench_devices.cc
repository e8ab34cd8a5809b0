// What it costs to cross between devices: one JSON line each.
//
//   bench_devices
//
// hand_over: microseconds from the end of a step on one logical CPU to the beginning of the next on another.
// copy: microseconds until a small value has crossed from one virtual GPU to another.
// copy_large: gigabytes a second of 16 MB that cross.

#include <weir/weir.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

using namespace weir;

namespace {

constexpr int kSteps = 200;

double seconds_of(const Session::Callable& step, const Tensor& feed) {
  double best = 1e9;
  for (int i = 0; i < 200; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    step(feed);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

// Microseconds a step of a chain that goes to and fro between two devices.
double chain(const SessionOptions& options, const char* first, const char* second) {
  Graph g;
  Output x = g.placeholder(float32, {16}), y = x;
  for (int i = 0; i < kSteps; ++i) {
    Scope device = g.device(i % 2 ? second : first);
    y = tanh(y);
  }
  SessionOptions plain = options;
  plain.passes = PassOptions::none();  // or the chain on one device would be a single kernel
  Session session(g, plain);
  auto step = session.make_callable({.feeds = {x}, .fetches = {y}});
  return 1e6 * seconds_of(step, Tensor::zeros(float32, {16})) / kSteps;
}

double copy_rate(const SessionOptions& options) {
  Graph g;
  Output x = g.placeholder(float32, {4 << 20}), y, sum;
  {
    Scope gpu = g.device("/gpu:0");
    y = negative(x, "y");
  }
  {
    Scope gpu = g.device("/gpu:1");
    sum = reduce_sum(y);
  }
  Session session(g, options);
  double best = 0;
  for (int i = 0; i < 20; ++i) {
    RunTrace trace;
    session.run(sum, {{x, Tensor::zeros(float32, {4 << 20})}}, {}, {.trace = &trace});
    for (const RunTrace::Event& event : trace.events) {
      if (event.node != "y/_copy:GPU:1") continue;
      best =
          std::max(best, static_cast<double>(event.output_bytes) / static_cast<double>(event.end_ns - event.start_ns));
    }
  }
  return best;
}

void print(const char* what, const char* unit, double value) {
  std::printf("{\"system\": \"weir\", \"workload\": \"%s\", \"%s\": %.2f}\n", what, unit, value);
}

}  // namespace

int main() {
  try {
    const SessionOptions cpus{.device_count = {{"CPU", 2}}};
    const SessionOptions gpus{.virtual_gpus = {.count = 2}};
    const double alone = chain(cpus, "/cpu:0", "/cpu:0");
    print("hand_over", "us", chain(cpus, "/cpu:0", "/cpu:1") - alone);
    print("copy", "us", chain(gpus, "/gpu:0", "/gpu:1") - alone);
    print("copy_large", "gb_s", copy_rate(gpus));
  } catch (const Error& e) {
    std::fprintf(stderr, "bench_devices: %s\n", e.what());
    return 1;
  }
}
