#include <condition_variable>
#include <mutex>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/run_control.h"
#include "ops/types.h"
#include "tensor/variant.h"

namespace weir::ops {
namespace {

// A lock that one run at a time holds, by a value that it passes on. Thread-safe.
class RunMutex final : public Resource {
 public:
  explicit RunMutex(std::string name) : name_(std::move(name)) {}
  std::string describe() const override { return "mutex '" + name_ + "'"; }

  void lock(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!free_again_.wait(lock, stop, [&] { return !locked_; })) {
      throw error(Code::Cancelled, "waiting for {} was cancelled", describe());
    }
    locked_ = true;
  }
  void unlock() {
    {
      std::lock_guard lock(mutex_);
      locked_ = false;
    }
    free_again_.notify_one();
  }

 private:
  const std::string name_;
  std::mutex mutex_;
  std::condition_variable_any free_again_;
  bool locked_ = false;
};

// That the mutex is locked, for as long as somebody has this.
class Locked final : public VariantObject {
 public:
  explicit Locked(ResourcePtr<RunMutex> mutex) : mutex_(std::move(mutex)) {}
  ~Locked() override { mutex_->unlock(); }

 private:
  ResourcePtr<RunMutex> mutex_;
};

struct State {
  ResourcePtr<RunMutex> mutex;
};
State prepare(PrepareContext& c) {
  return {c.named_resource<RunMutex>([](const std::string& name) { return make_resource<RunMutex>(name); })};
}

void give(KernelContext& c) { c.set_resource(0, c.state<State>().mutex.get()); }

void lock(KernelContext& c) {
  ResourcePtr<RunMutex> mutex(&c.resource<RunMutex>(0));
  mutex->lock(c.control() ? c.control()->stop : std::stop_token());
  c.set_output(0, variant_tensor(std::make_shared<Locked>(std::move(mutex))));
}

void consume(KernelContext& c) {
  const auto* held = static_cast<const Variant*>(c.raw_input(0));
  if (!held || !dynamic_cast<const Locked*>(held->get()))
    throw invalid_argument("the input is not that of a MutexLock");
}

void infer_scalar_input(InferContext& c) {
  c.require_scalar(0);
  if (c.outputs() > 0) c.set_output(0, Shape{});
}

}  // namespace

OpDef mutex_v2_op() {
  return {.name = "MutexV2",
          .outputs = "resource:resource",
          .attrs = "container:string=''; shared_name:string=''",
          .flags = "stateful",
          .host = "resource",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<give>, .prepare = prepared<prepare>},
          .host_only = true};
}

OpDef mutex_lock_op() {
  return {.name = "MutexLock",
          .inputs = "mutex:resource",
          .outputs = "mutex_lock:variant",
          .flags = "stateful",
          .host = "mutex, mutex_lock",
          .infer = infer_scalar_input,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<lock>, .gives_outputs = true},
          .waits = true,
          .host_only = true};
}

OpDef consume_mutex_lock_op() {
  return {.name = "ConsumeMutexLock",
          .inputs = "mutex_lock:variant",
          .flags = "stateful",
          .host = "mutex_lock",
          .infer = infer_scalar_input,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<consume>},
          .host_only = true};
}

}  // namespace weir::ops
