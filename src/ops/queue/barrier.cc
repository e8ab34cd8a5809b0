#include "ops/queue/barrier.h"

#include <algorithm>

#include "base/errors.h"

namespace weir::ops {
namespace {

Queue::Options queue_options(const Barrier::Options& o) {
  if (o.shapes.size() != o.types.size()) throw invalid_argument("All of the component shapes must be specified");
  Queue::Options queue{.kind = Queue::Kind::Priority,
                       .name = o.name + "_queue",
                       .types = {DType::Int64, DType::String},
                       .shapes = {Shape{}, Shape{}}};
  queue.types.insert(queue.types.end(), o.types.begin(), o.types.end());
  queue.shapes.insert(queue.shapes.end(), o.shapes.begin(), o.shapes.end());
  return queue;
}

}  // namespace

Barrier::Barrier(Options options)
    : options_(std::move(options)), ready_(make_resource<Queue>(queue_options(options_))) {}

std::string Barrier::describe() const {
  return fmt::format("barrier '{}' ({} complete, {} incomplete)", options_.name, ready_size(), incomplete_size());
}

void Barrier::require_same(const Options& other) const {
  if (other.types != options_.types) {
    throw invalid_argument("Shared barrier '{}' has other component types than requested", options_.name);
  }
  if (other.shapes != options_.shapes) {
    throw invalid_argument("Shared barrier '{}' has other component shapes than requested", options_.name);
  }
}

void Barrier::insert(const std::string& key, int64_t component, Tensor value, int64_t row, bool& is_new) {
  auto found = incomplete_.find(key);
  if (found == incomplete_.end()) {
    if (closed_) {
      throw error(
          Code::Cancelled,
          "Barrier {} is closed, but attempted to insert a brand new key: {}.  Pending enqueues cancelled: {}.  "
          "Insertion index: {}.  Number of incomplete keys: {}.",
          options_.name, key, cancelled_ ? 1 : 0, row, incomplete_.size());
    }
    found = incomplete_.emplace(key, Incomplete{next_index_, std::vector<Tensor>(options_.types.size())}).first;
    is_new = true;
  }
  std::vector<Tensor>& components = found->second.components;
  Tensor& place = components[static_cast<size_t>(component)];
  if (place.valid()) {
    throw invalid_argument("Key {} already has a value for component {} in barrier {}", key, component, options_.name);
  }
  place = std::move(value);
  if (!std::all_of(components.begin(), components.end(), [](const Tensor& t) { return t.valid(); })) return;
  Queue::Row complete = {Tensor(found->second.index), Tensor(key)};
  complete.insert(complete.end(), std::make_move_iterator(components.begin()),
                  std::make_move_iterator(components.end()));
  incomplete_.erase(found);
  ready_->put(std::move(complete));
}

void Barrier::insert_many(const Tensor& keys, int64_t component, const Tensor& values) {
  if (component < 0 || component >= static_cast<int64_t>(options_.types.size())) {
    throw invalid_argument("The component ID is out of range {} > num_components (= {})", component,
                           options_.types.size());
  }
  if (values.dtype() != options_.types[static_cast<size_t>(component)]) {
    throw invalid_argument("Signature mismatch: component {} of barrier {} is {}, got {}", component, options_.name,
                           dtype_name(options_.types[static_cast<size_t>(component)]), dtype_name(values.dtype()));
  }
  const int64_t count = keys.elements();
  if (count > 0 && values.elements() == 0) {
    throw invalid_argument("Tensors with no elements are not supported {}: received shape {}", options_.name,
                           values.shape().str());
  }
  if (values.shape().rank() == 0 || values.shape().dim(0) != count) {
    throw invalid_argument("{} keys and values of shape {} do not fit", count, values.shape().str());
  }
  std::lock_guard lock(mutex_);
  if (closed_ && (cancelled_ || (count > 0 && incomplete_.empty()))) {
    throw error(Code::Cancelled,
                "Barrier {} is closed.  Pending enqueues cancelled: {}.  Number of new insertions: {}.  Number of "
                "incomplete keys: {}.",
                options_.name, cancelled_ ? 1 : 0, count, incomplete_.size());
  }
  bool is_new = false;
  for (int64_t i = 0; i < count; ++i) {
    insert(keys.data<std::string>()[static_cast<size_t>(i)], component, detached(row_of(values, i)), i, is_new);
  }
  if (is_new) ++next_index_;
  if (closed_ && incomplete_.empty()) ready_->close_now(false);  // nothing can be completed any more
}

void Barrier::take_many(int64_t count, bool allow_small_batch, KernelContext& c, Completion done) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) {
      int64_t available = ready_size();
      if (allow_small_batch) {
        count = std::min(count, available);
      } else {
        available += static_cast<int64_t>(incomplete_.size());
      }
      if (available < std::max<int64_t>(count, 1)) {
        throw error(Code::OutOfRange,
                    "Barrier '{}' is closed and has insufficient elements (requested {}, total size {})", options_.name,
                    count, available);
      }
    }
  }
  ready_->dequeue_many(count, allow_small_batch, c, done);
}

void Barrier::close(bool cancel_pending_enqueues) {
  std::lock_guard lock(mutex_);
  // It may be closed twice if the second one cancels and the first one did not.
  if (closed_ && (cancelled_ || !cancel_pending_enqueues)) {
    throw error(Code::Cancelled, "Barrier '{}' is already closed.", options_.name);
  }
  closed_ = true;
  cancelled_ = cancel_pending_enqueues;
  if (cancelled_) incomplete_.clear();
  if (incomplete_.empty()) return ready_->close_now(cancelled_);
  // Who has begun to take a small batch may be the one who would complete the next key.
  ready_->end_soon();
}

int64_t Barrier::incomplete_size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(incomplete_.size());
}

}  // namespace weir::ops
