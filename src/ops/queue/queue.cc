#include "ops/queue/queue.h"

#include <algorithm>
#include <limits>

#include "base/errors.h"

namespace weir::ops {
namespace {

constexpr int64_t kUnbounded = std::numeric_limits<int32_t>::max();

std::string list_of(const std::vector<DType>& types) {
  std::string text;
  for (DType type : types) text += (text.empty() ? "" : ", ") + std::string(dtype_name(type));
  return text;
}

std::string list_of(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + shape.str();
  return "[" + text + "]";
}

void check_options(const Queue::Options& o) {
  if (o.kind == Queue::Kind::PaddingFifo) {
    if (o.shapes.size() != o.types.size()) {
      throw invalid_argument("Shapes must be provided for all components, but received {} dtypes and {} shapes.",
                             o.types.size(), o.shapes.size());
    }
    for (const Shape& shape : o.shapes) {
      if (!shape.has_rank()) throw invalid_argument("shape {} must have known rank.", shape.str());
    }
  } else {
    if (!o.shapes.empty() && o.shapes.size() != o.types.size()) {
      throw invalid_argument("the queue '{}' has {} components and {} shapes", o.name, o.types.size(), o.shapes.size());
    }
  }
  if (o.min_after_dequeue < 0) throw invalid_argument("min_after_dequeue {} must be >= 0", o.min_after_dequeue);
  const int64_t capacity = o.capacity < 0 ? kUnbounded : o.capacity;
  if (o.kind == Queue::Kind::RandomShuffle && o.min_after_dequeue >= capacity) {
    throw invalid_argument("min_after_dequeue {} must be < capacity {}", o.min_after_dequeue, capacity);
  }
}

std::unique_ptr<Elements> make_elements(const Queue::Options& o) {
  check_options(o);
  switch (o.kind) {
    case Queue::Kind::RandomShuffle:
      return make_shuffled_elements(o.types.size(), o.seed, o.seed2);
    case Queue::Kind::Priority:
      return make_priority_elements(o.types.size());
    default:
      return make_fifo_elements(o.types.size());
  }
}

}  // namespace

std::string_view name_of(Queue::Kind kind) {
  switch (kind) {
    case Queue::Kind::RandomShuffle:
      return "RandomShuffleQueue";
    case Queue::Kind::PaddingFifo:
      return "PaddingFIFOQueue";
    case Queue::Kind::Priority:
      return "PriorityQueue";
    default:
      return "FIFOQueue";
  }
}

// Puts one element in, or the rows of a batch one after the other as there is room.
class Queue::Enqueue final : public Visit {
 public:
  Enqueue(Queue& queue, Row values, int64_t count, bool is_batch)
      : queue_(&queue), values_(std::move(values)), left_(count), count_(count), is_batch_(is_batch) {}

  bool ready() const override { return queue_->closed_ || queue_->room() >= left_; }
  Outcome attempt() override {
    if (queue_->closed_) throw queue_->closed_error();
    const int64_t now = std::min(left_, queue_->room());
    if (!is_batch_) {
      if (now > 0) queue_->elements_->put(values_);
    } else {
      put_rows(now);
    }
    left_ -= now;
    queue_->put_in_ += now;
    return left_ == 0 ? Outcome::Done : now > 0 ? Outcome::Moved : Outcome::Waits;
  }
  std::string_view name() const override { return "Enqueue"; }

 private:
  // Elements that leave the queue far apart have memory of their own, the small ones some together.
  void put_rows(int64_t count) {
    const bool apart = !queue_->elements_->keeps_neighbours();
    Row row(values_.size());
    std::vector<RowCopies> copies(apart ? values_.size() : 0);
    for (int64_t i = 0; i < count; ++i) {
      for (size_t k = 0; k < row.size(); ++k) {
        const int64_t at = count_ - left_ + i;
        row[k] = apart ? copies[k].copy(values_[k], at) : row_of(values_[k], at);
      }
      queue_->elements_->put(row);
    }
  }

  Queue* queue_;
  Row values_;
  int64_t left_, count_;
  bool is_batch_;
};

// Takes elements out as they come. Those that it has when it is cancelled, or when there will not be enough, go back.
class Queue::Dequeue final : public Visit {
 public:
  Dequeue(Queue& queue, int64_t count, bool is_batch, bool up_to)
      : queue_(&queue), wanted_(count), is_batch_(is_batch), up_to_(up_to) {}

  bool ready() const override { return queue_->closed_ || queue_->available() >= left() || can_be_small(); }
  Outcome attempt() override {
    if (!queue_->closed_ && can_be_small()) wanted_ = std::min(wanted_, taken() + queue_->available());
    if (queue_->closed_ && queue_->elements_->size() < left()) {
      give_up();
      if (!up_to_ || queue_->elements_->size() == 0) throw queue_->empty_error(wanted_);
      wanted_ = std::min(wanted_, queue_->elements_->size());
    }
    const int64_t now = std::min(left(), queue_->available());
    if (now <= 0) return left() == 0 ? Outcome::Done : Outcome::Waits;
    const size_t components = queue_->options_.types.size(), before = rows_.size();
    rows_.resize(before + static_cast<size_t>(now) * components);
    for (size_t at = before; at < rows_.size(); at += components) {
      queue_->elements_->take(std::span(rows_).subspan(at, components));
    }
    return left() == 0 ? Outcome::Done : Outcome::Moved;
  }
  void give_up() override {
    const size_t components = queue_->options_.types.size();
    for (size_t at = rows_.size(); at > 0; at -= components) {
      queue_->elements_->put_back(std::span(rows_).subspan(at - components, components));
    }
    rows_.clear();
  }
  void deliver(KernelContext& c) override {
    const Options& o = queue_->options_;
    for (size_t k = 0; k < o.types.size(); ++k) {
      Tensor value = is_batch_ ? queue_->batches_.assemble(
                                     o.types[k], o.shapes[k],
                                     std::span<const Tensor>(rows_).subspan(std::min(k, rows_.size())), o.types.size())
                               : detached(std::move(rows_[k]));
      c.set_output(static_cast<int>(k), std::move(value));
    }
  }
  std::string_view name() const override { return "Dequeue"; }

 private:
  int64_t taken() const { return static_cast<int64_t>(rows_.size() / queue_->options_.types.size()); }
  int64_t left() const { return wanted_ - taken(); }
  bool can_be_small() const { return up_to_ && queue_->ends_soon_ && taken() + queue_->available() > 0; }

  Queue* queue_;
  Row rows_;  // taken so far, one after the other
  int64_t wanted_;
  bool is_batch_, up_to_;
};

// Stands behind those who came before it to put something in.
class Queue::Close final : public Visit {
 public:
  explicit Close(Queue& queue) : queue_(&queue) {}
  bool ready() const override { return true; }
  Outcome attempt() override {
    if (queue_->closed_) {
      throw error(Code::Cancelled, "Queue '{}' is already closed.", queue_->options_.name);
    }
    queue_->closed_ = true;
    return Outcome::Done;
  }
  std::string_view name() const override { return "Close"; }

 private:
  Queue* queue_;
};

Queue::Queue(Options options)
    : Meeting(/*in_order=*/true), options_(std::move(options)), elements_(make_elements(options_)) {}

std::string Queue::describe() const {
  std::lock_guard lock(mutex_);
  std::string text = fmt::format("queue '{}' ({}", options_.name, elements_->size());
  if (options_.capacity >= 0) text += fmt::format(" of {}", options_.capacity);
  text += elements_->size() == 1 && options_.capacity < 0 ? " element" : " elements";
  if (!closed_ && options_.min_after_dequeue > 0) {
    text += fmt::format(", of which {} must stay", options_.min_after_dequeue);
  }
  if (put_in_ == 0) text += ", none was ever put in";
  return text + (closed_ ? ", closed)" : ")");
}

void Queue::require_same(const Options& other) const {
  auto unlike = [&](std::string_view what, const auto& has, const auto& wants) {
    return invalid_argument("Shared queue '{}' has {} {} but requested {} was {}", options_.name, what, has, what,
                            wants);
  };
  if (other.kind != options_.kind) {
    throw invalid_argument("Shared queue '{}' has type '{}' that does not match type of Node '{}': {}", options_.name,
                           name_of(options_.kind), other.name, name_of(other.kind));
  }
  auto bounded = [](int64_t capacity) { return capacity < 0 ? kUnbounded : capacity; };
  if (bounded(other.capacity) != bounded(options_.capacity)) {
    throw unlike("capacity", bounded(options_.capacity), bounded(other.capacity));
  }
  if (other.min_after_dequeue != options_.min_after_dequeue) {
    throw unlike("min_after_dequeue", options_.min_after_dequeue, other.min_after_dequeue);
  }
  // Who names no seeds takes a queue with any.
  if ((other.seed != 0 || other.seed2 != 0) && (other.seed != options_.seed || other.seed2 != options_.seed2)) {
    throw invalid_argument("Shared queue '{}' has random seeds ({}, {}) but requested seeds are ({}, {}).",
                           options_.name, options_.seed, options_.seed2, other.seed, other.seed2);
  }
  if (other.types != options_.types) throw unlike("component types", list_of(options_.types), list_of(other.types));
  if (other.shapes != options_.shapes) {
    throw unlike("component shapes", list_of(options_.shapes), list_of(other.shapes));
  }
}

void Queue::check_types(const Row& row) const {
  if (row.size() != options_.types.size()) {
    throw invalid_argument("Wrong number of components in tuple. Expected {}, got {}", options_.types.size(),
                           row.size());
  }
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i].dtype() != options_.types[i]) {
      throw invalid_argument("Type mismatch in tuple component {}. Expected {}, got {}", i,
                             dtype_name(options_.types[i]), dtype_name(row[i].dtype()));
    }
  }
}

void Queue::check(const Row& element) const {
  check_types(element);
  for (size_t i = 0; i < options_.shapes.size(); ++i) {
    if (!options_.shapes[i].compatible(element[i].shape())) {
      throw invalid_argument("Shape mismatch in tuple component {}. Expected {}, got {}", i, options_.shapes[i].str(),
                             element[i].shape().str());
    }
  }
  if (options_.kind == Kind::Priority && !element[0].shape().is_scalar()) {
    throw invalid_argument("Expected the priority element to be a scalar, but received shape: {}",
                           element[0].shape().str());
  }
}

void Queue::check_batch(const Row& batch) const {
  check_types(batch);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].shape().rank() == 0) {
      throw invalid_argument("component {} of the batch is a scalar; its first dimension must count the elements", i);
    }
  }
  const int64_t count = batch[0].shape().dim(0);
  for (size_t i = 0; i < batch.size(); ++i) {
    const Shape& shape = batch[i].shape();
    if (!options_.shapes.empty()) {
      Shape expected{count};
      for (int64_t size : options_.shapes[i].dims()) expected.append(size);
      if (!expected.compatible(shape)) {
        throw invalid_argument("Shape mismatch in tuple component {}. Expected {}, got {}", i, expected.str(),
                               shape.str());
      }
    } else if (shape.dim(0) != count) {
      throw invalid_argument(
          "All input tensors must have the same size in the 0th dimension. Component {} has {}, and should have {}", i,
          shape.dim(0), count);
    }
  }
  if (options_.kind == Kind::Priority && batch[0].shape().rank() != 1) {
    throw invalid_argument("Expected the priority element to be a vector, but received shape: {}",
                           batch[0].shape().str());
  }
}

void Queue::enqueue(Row element, KernelContext& c, Completion done) {
  check(element);
  come(Side::Bringing, Enqueue(*this, std::move(element), 1, false), c, done);
}

void Queue::enqueue_many(Row batch, KernelContext& c, Completion done) {
  check_batch(batch);
  const int64_t count = batch[0].shape().dim(0);
  if (count == 0) return done();  // even when the queue is closed
  come(Side::Bringing, Enqueue(*this, std::move(batch), count, true), c, done);
}

void Queue::dequeue(KernelContext& c, Completion done) { come(Side::Taking, Dequeue(*this, 1, false, false), c, done); }

void Queue::dequeue_many(int64_t count, bool up_to, KernelContext& c, Completion done) {
  if (options_.shapes.empty()) {
    throw invalid_argument("{}'s DequeueMany and DequeueUpTo require the components to have specified shapes.",
                           name_of(options_.kind));
  }
  Dequeue visit(*this, count, true, up_to);
  if (count == 0) {  // even when the queue is closed
    visit.deliver(c);
    return done();
  }
  come(Side::Taking, std::move(visit), c, done);
}

void Queue::close(bool cancel_pending_enqueues, KernelContext& c, Completion done) {
  if (!cancel_pending_enqueues) return come(Side::Bringing, Close(*this), c, done);
  close_now(true);
  done();
}

void Queue::close_now(bool cancel_pending_enqueues) {
  change([&] {
    closed_ = true;
    if (cancel_pending_enqueues) dismiss(Side::Bringing);
  });
}

void Queue::end_soon() {
  change([&] { ends_soon_ = true; });
}

void Queue::put(Row element) {
  check(element);
  change([&] {
    if (closed_) throw closed_error();
    elements_->put(element);
    ++put_in_;
  });
}

int64_t Queue::size() const {
  std::lock_guard lock(mutex_);
  return elements_->size();
}

bool Queue::is_closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

int64_t Queue::room() const {
  const int64_t capacity = options_.capacity < 0 ? kUnbounded : options_.capacity;
  return std::max<int64_t>(capacity - elements_->size(), 0);
}

int64_t Queue::available() const { return elements_->size() - (closed_ ? 0 : options_.min_after_dequeue); }

Error Queue::closed_error() const {
  return error(Code::Cancelled, "{} '{}' is closed.", name_of(options_.kind), options_.name);
}

Error Queue::empty_error(int64_t wanted) const {
  return error(Code::OutOfRange, "{} '{}' is closed and has insufficient elements (requested {}, current size {})",
               name_of(options_.kind), options_.name, wanted, elements_->size());
}

}  // namespace weir::ops
