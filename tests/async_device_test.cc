// A device that computes on a queue of its own, as GPUs do: kernels and copies have only been begun when the host goes
// on. Whoever does not wait where it must (DeviceMemory::finish) reads what is not there yet.

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <thread>

#include "devices/device.h"
#include "graph/op.h"
#include "weir/weir.h"

namespace weir {
namespace {

// Does one piece of work after the other, each a while after it was asked for.
class Queue {
 public:
  Queue() : thread_([this] { serve(); }) {}
  ~Queue() {
    add(nullptr);
    thread_.join();
  }
  void add(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    ++added_;
    changed_.notify_all();
  }
  void finish() {
    std::unique_lock lock(mutex_);
    const int wanted = added_;
    waited_ = waited_ || done_ < wanted;
    changed_.wait(lock, [&] { return done_ >= wanted; });
  }
  bool was_waited_for() const { return waited_; }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !work_.empty(); });
      const std::function<void()> next = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      if (!next) return;
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      next();
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  int added_ = 0, done_ = 0;
  bool waited_ = false;
  std::thread thread_;
};

class AsyncMemory final : public DeviceMemory {
 public:
  AsyncMemory() : DeviceMemory("/device:GPU:0", int64_t{1} << 30) {}
  bool on_host() const override { return false; }
  // Memory that is given back may be used again: work on it comes later.
  Tensor place(DType dtype, const Shape& shape) override {
    Tensor value(dtype, shape);
    const char* begin = static_cast<const char*>(value.raw());
    std::lock_guard lock(mutex_);
    places_.emplace_back(begin, begin + std::max<size_t>(value.bytes(), 1));
    kept_.push_back(value);
    return value;
  }
  bool holds(const void* data) const override {
    std::lock_guard lock(mutex_);
    for (const auto& [begin, end] : places_) {
      if (data >= begin && data < end) return true;
    }
    return false;
  }
  void copy(void* to, const void* from, size_t bytes, Way way) override {
    if (way != Way::FromHost) return queue.add([=] { std::memcpy(to, from, bytes); });
    // What is the host's may change as soon as this returns.
    auto staged =
        std::make_shared<std::vector<char>>(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
    queue.add([=] { std::memcpy(to, staged->data(), bytes); });
  }
  void finish() override { queue.finish(); }

  Queue queue;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<const char*, const char*>> places_;
  std::vector<Tensor> kept_;
};

thread_local Queue* launching = nullptr;

template <class Function>
void compute(KernelContext& c) {
  const float *x = c.input<float>(0), *y = c.input<float>(1);
  float* to = c.output<float>();
  launching->add([=, n = c.output_elements()] {
    for (int64_t i = 0; i < n; ++i) to[i] = Function()(x[i], y[i]);
  });
}

class AsyncDevice final : public Device {
 public:
  AsyncDevice() : Device("GPU", 0, /*wraps_kernels=*/true) {}
  const Kernel* kernel(const NodeView& node, std::span<const DType>, std::span<const DType>) const override {
    static constexpr Kernel kAdd = {.select = [](const NodeView&) -> ComputeFn { return compute<std::plus<float>>; }};
    static constexpr Kernel kMul = {
        .select = [](const NodeView&) -> ComputeFn { return compute<std::multiplies<float>>; }};
    const std::string& op = node.op().name;
    return op == "AddV2" ? &kAdd : op == "Mul" ? &kMul : op == "_Copy" ? &node.op().def->cpu : nullptr;
  }
  ThreadPool& pool() const override { return pool_; }
  AsyncMemory* memory() const override { return memory_.get(); }
  void launch(ComputeFn compute, KernelContext& context) const override {
    launching = &memory_->queue;
    compute(context);
  }
  std::string description() const override { return "a device of the tests"; }

 private:
  mutable ThreadPool pool_{1};
  std::shared_ptr<AsyncMemory> memory_ = std::make_shared<AsyncMemory>();
};

TEST(AsyncDevice, IsWaitedForWhereTheHostOrAnotherDeviceReads) {
  auto device = std::make_shared<AsyncDevice>();
  const MoreDevices more({device});
  Graph g;
  Output x = g.placeholder(float32, {4}), there, again;
  Variable v = g.variable("v", Tensor(std::vector<float>{0, 0, 0, 0}));
  {
    Scope scope = g.device("/gpu:0");
    there = x * x + x;
  }
  Output here = tanh(there);  // the device has no kernel for it
  {
    Scope scope = g.device("/gpu:0");
    again = here * here + there;
  }
  Operation keep;
  {
    Scope scope = g.device("/cpu:0");
    keep = assign(v, again).op();
  }
  Session s(g, {.allow_soft_placement = true, .virtual_gpus = {.count = 0}});
  s.run(g.global_variables_initializer());
  for (float first : {0.f, 1.f, 2.f}) {
    const Tensor got = s.run(std::vector<Output>{again}, {{x, std::vector<float>{first, 1, 2, 3}}}, {keep})[0];
    const Tensor kept = s.run(v);
    for (int i = 0; i < 4; ++i) {
      const float xi = i == 0 ? first : static_cast<float>(i);
      const float wanted = std::pow(std::tanh(xi * xi + xi), 2.f) + xi * xi + xi;
      EXPECT_NEAR(got.data<float>()[i], wanted, 1e-5) << i;
      EXPECT_EQ(kept.data<float>()[i], got.data<float>()[i]) << i;
    }
  }
  EXPECT_TRUE(device->memory()->queue.was_waited_for());
}

}  // namespace
}  // namespace weir
