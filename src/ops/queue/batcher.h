#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "ops/kernel.h"

namespace weir::ops {

struct BatchLimits {
  int64_t threads = 1, max_size = 0, max_batches = 10, timeout_us = 0;
  std::vector<int64_t> allowed_sizes = {};  // empty: any

  // Throws InvalidArgument, in TensorFlow's words, when they make no sense.
  void check() const;
  // The smallest size that is allowed for so many rows.
  int64_t padded(int64_t rows) const;
};
BatchLimits batch_limits(const PrepareContext& c);

// What a run wants to have done together with what others want. `process` is called with a batch, by the task that is
// the first of it, and completes all of its tasks.
struct BatchTask;
using Batch = std::vector<std::unique_ptr<BatchTask>>;
struct BatchTask {
  BatchTask(KernelContext& c, Completion d, std::vector<Tensor> t, int64_t n)
      : context(c), done(d), inputs(std::move(t)), rows(n) {}
  KernelContext& context;
  Completion done;
  std::vector<Tensor> inputs;  // all with `rows` rows
  int64_t rows;
  std::function<void(Batch)> process = {};
  bool over = false;  // guarded by the batcher: its run has ended
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};
};

// Gathers tasks of several runs into batches, each of which a thread processes when it is full or its first task has
// waited long enough. Thread-safe.
class Batcher final : public Resource {
 public:
  explicit Batcher(BatchLimits limits);
  ~Batcher() override;

  std::string describe() const override { return "a queue of batches"; }
  const BatchLimits& limits() const { return limits_; }
  // Throws InvalidArgument for more rows than a batch holds, Unavailable when too many batches wait. A run that ends
  // before its batch is begun is let go.
  void add(std::unique_ptr<BatchTask> task, const std::string& queue);

 private:
  using Queue = std::deque<Batch>;  // only the last may take more
  void work();
  // The batch that is to be processed now, or none; `until` gets the time at which the next one will be due.
  Batch take(std::chrono::steady_clock::time_point& until);
  void cancel(BatchTask& task);
  static int64_t rows_of(const Batch& batch);

  const BatchLimits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_:
  std::map<std::string, Queue> queues_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

// The inputs [first, first + count) as what a task brings. Throws InvalidArgument when they differ in rows or have
// none.
std::unique_ptr<BatchTask> batch_task(KernelContext& c, Completion done, int first, int count);
// Input `index` of all tasks below each other, with as many more rows of the first as make `rows`.
Tensor joined_rows(const Batch& batch, size_t index, int64_t rows);
// Tensors below each other. Throws InvalidArgument when they differ in more than their rows.
Tensor joined_rows(const std::vector<Tensor>& parts);
// Completes all tasks of a batch with the error that is being handled.
void fail_all(const Batch& batch) noexcept;

}  // namespace weir::ops
