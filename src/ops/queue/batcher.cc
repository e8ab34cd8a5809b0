#include "ops/queue/batcher.h"

#include <algorithm>

#include "base/errors.h"
#include "ops/data/dataset.h"
#include "ops/run_control.h"
#include "tensor/elements.h"

namespace weir::ops {

void BatchLimits::check() const {
  if (threads <= 0) throw invalid_argument("num_batch_threads must be positive; was {}", threads);
  if (max_size <= 0) throw invalid_argument("max_batch_size must be positive; was {}", max_size);
  if (max_batches <= 0) throw invalid_argument("max_enqueued_batches must be positive; was {}", max_batches);
  if (timeout_us < 0) throw invalid_argument("batch_timeout_micros must be non-negative; was {}", timeout_us);
  for (size_t i = 0; i + 1 < allowed_sizes.size(); ++i) {
    if (allowed_sizes[i] >= allowed_sizes[i + 1]) {
      throw invalid_argument("allowed_batch_sizes entries must be monotonically increasing");
    }
  }
  if (!allowed_sizes.empty() && allowed_sizes.back() != max_size) {
    throw invalid_argument("final entry in allowed_batch_sizes must equal max_batch_size");
  }
}

int64_t BatchLimits::padded(int64_t rows) const {
  auto fits = std::lower_bound(allowed_sizes.begin(), allowed_sizes.end(), rows);
  return fits == allowed_sizes.end() ? rows : *fits;
}

BatchLimits batch_limits(const PrepareContext& c) {
  constexpr int64_t kMaxThreads = 256, kLongest = int64_t{366} * 24 * 3600 * 1000000;
  BatchLimits limits{.threads = c.attr<int64_t>("num_batch_threads"),
                     .max_size = c.attr<int64_t>("max_batch_size"),
                     .max_batches = c.attr<int64_t>("max_enqueued_batches"),
                     .timeout_us = c.attr<int64_t>("batch_timeout_micros"),
                     .allowed_sizes = c.attr<std::vector<int64_t>>("allowed_batch_sizes")};
  limits.check();
  limits.threads = std::min(limits.threads, kMaxThreads);
  limits.timeout_us = std::min(limits.timeout_us, kLongest);
  return limits;
}

Batcher::Batcher(BatchLimits limits) : limits_(std::move(limits)) {
  for (int64_t i = 0; i < limits_.threads; ++i) threads_.emplace_back([this] { work(); });
}

Batcher::~Batcher() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

int64_t Batcher::rows_of(const Batch& batch) {
  int64_t rows = 0;
  for (const auto& task : batch) rows += task->rows;
  return rows;
}

void Batcher::add(std::unique_ptr<BatchTask> task, const std::string& queue) {
  if (task->rows > limits_.max_size) {
    throw invalid_argument("Task size {} is larger than maximum batch size {}", task->rows, limits_.max_size);
  }
  // Before the task is listed: from then on it may be done, and gone, at any moment. The callback may come at once.
  if (const RunControl* control = task->context.control()) {
    task->on_stop.emplace(control->stop, [this, t = task.get()] { cancel(*t); });
  }
  {
    std::lock_guard lock(mutex_);
    if (task->over) throw error(Code::Cancelled, "the wait for a batch was cancelled");
    Queue& to = queues_[queue];
    if (to.empty() || rows_of(to.back()) + task->rows > limits_.max_size) {
      if (static_cast<int64_t>(to.size()) >= limits_.max_batches) {
        throw error(Code::Unavailable, "The batch scheduling queue to which this task was submitted is full");
      }
      to.emplace_back();
    }
    to.back().push_back(std::move(task));
  }
  changed_.notify_all();
}

void Batcher::cancel(BatchTask& task) {
  std::unique_ptr<BatchTask> own;
  {
    std::lock_guard lock(mutex_);
    task.over = true;
    for (auto& [name, queue] : queues_) {
      for (Batch& batch : queue) {
        auto at = std::find_if(batch.begin(), batch.end(), [&](const auto& each) { return each.get() == &task; });
        if (at == batch.end()) continue;
        own = std::move(*at);
        batch.erase(at);
        break;
      }
      std::erase_if(queue, [](const Batch& batch) { return batch.empty(); });
    }
  }
  if (own) own->done(std::make_exception_ptr(error(Code::Cancelled, "the wait for a batch was cancelled")));
}

Batch Batcher::take(std::chrono::steady_clock::time_point& until) {
  const auto now = std::chrono::steady_clock::now();
  for (auto& [name, queue] : queues_) {
    if (queue.empty()) continue;
    const auto due = queue.front().front()->arrived + std::chrono::microseconds(limits_.timeout_us);
    const bool full = queue.size() > 1 || rows_of(queue.front()) >= limits_.max_size;
    if (!full && due > now) {
      until = std::min(until, due);
      continue;
    }
    Batch taken = std::move(queue.front());
    queue.pop_front();
    return taken;
  }
  return {};
}

void Batcher::work() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    auto until = std::chrono::steady_clock::time_point::max();
    Batch batch = take(until);
    if (batch.empty()) {
      if (until == std::chrono::steady_clock::time_point::max()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, until);
      }
      continue;
    }
    lock.unlock();
    // Nobody lets these go any more: a callback that has begun does not find its task.
    for (const auto& task : batch) task->on_stop.reset();
    const std::function<void(Batch)> process = batch[0]->process;
    process(std::move(batch));
    lock.lock();
  }
}

std::unique_ptr<BatchTask> batch_task(KernelContext& c, Completion done, int first, int count) {
  std::vector<Tensor> inputs;
  int64_t rows = -1;
  for (int i = first; i < first + count; ++i) {
    const Shape& shape = c.shape(i);
    if (shape.rank() == 0) throw invalid_argument("Batching input tensors must have at least one dimension");
    if (rows >= 0 && shape[0] != rows) {
      throw invalid_argument(
          "Batching input tensors supplied in a given op invocation must have equal 0th-dimension size");
    }
    rows = shape[0];
    inputs.push_back(c.input_tensor(i));
  }
  return std::make_unique<BatchTask>(c, done, std::move(inputs), rows);
}

Tensor joined_rows(const std::vector<Tensor>& parts) {
  Shape shape = parts[0].shape();
  int64_t rows = 0;
  for (const Tensor& part : parts) {
    bool fits = part.dtype() == parts[0].dtype() && part.shape().rank() == shape.rank() && shape.rank() > 0;
    for (int d = 1; fits && d < shape.rank(); ++d) fits = part.shape()[d] == shape[d];
    if (!fits) {
      throw invalid_argument("Concatenating tensors of shapes {} and {}", parts[0].shape().str(), part.shape().str());
    }
    rows += part.shape()[0];
  }
  shape.set_dim(0, rows);
  Tensor whole(parts[0].dtype(), shape);
  auto* to = static_cast<char*>(whole.mutable_raw());
  for (const Tensor& part : parts) {
    copy_elements(part.dtype(), part.raw(), to, part.elements());
    to += static_cast<size_t>(part.elements()) * element_bytes(part.dtype());
  }
  return whole;
}

Tensor joined_rows(const Batch& batch, size_t index, int64_t rows) {
  std::vector<Tensor> parts;
  int64_t have = 0;
  for (const auto& task : batch) {
    parts.push_back(task->inputs[index]);
    have += task->rows;
  }
  for (; have < rows; ++have) {
    const Tensor& first = batch[0]->inputs[index];
    parts.push_back(shared_rows(first, 0, 1));
  }
  return joined_rows(parts);
}

void fail_all(const Batch& batch) noexcept {
  const std::exception_ptr error = std::current_exception();
  for (const auto& task : batch) task->done(error);
}

}  // namespace weir::ops
