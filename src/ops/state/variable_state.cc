#include "ops/state/variable_state.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/errors.h"
#include "base/racing_writes.h"
#include "tensor/elements.h"

namespace weir {
namespace {

Tensor copy_in(DeviceMemory* memory, const Tensor& value) { return memory ? memory->duplicate(value) : value.copy(); }

// Elements that lie in the same memory as the value.
void copy_here(DeviceMemory* memory, const void* data, Tensor& value) {
  if (!on_host(memory) && is_plain(value.dtype()) && memory->holds(data)) {
    memory->copy(value.mutable_raw(), data, value.bytes(), DeviceMemory::Way::Within);
  } else {
    copy_elements(value.dtype(), data, value.mutable_raw(), value.elements());
  }
}

}  // namespace

// Stands between a variable and the memory of its value, so that two kinds of readers can be told apart: the variable
// and live readers refer to the storage, snapshots to the memory behind it.
class VariableState::Storage final : public Buffer {
 public:
  // Takes over one reference.
  explicit Storage(Buffer* memory) : Buffer(memory->data(), memory->bytes()), memory_(memory) {}
  ~Storage() override { memory_->release(); }

  Buffer* memory() const { return memory_; }
  bool has_snapshots() const { return !memory_->unique(); }

  // Writes in place that are under way.
  std::atomic<int> writers{0};

 private:
  Buffer* memory_;
};

// One write in place: while it lasts, whoever wants a snapshot gets a copy.
class VariableState::InPlaceWrite {
 public:
  InPlaceWrite() = default;
  ~InPlaceWrite() {
    if (value_.valid()) static_cast<Storage*>(value_.buffer())->writers.fetch_sub(1, std::memory_order_release);
  }
  InPlaceWrite(const InPlaceWrite&) = delete;
  InPlaceWrite& operator=(const InPlaceWrite&) = delete;

  // REQUIRES: the variable's mutex is held.
  void begin(VariableState& variable) {
    variable.detach(/*from_live_readers=*/false);
    variable.storage().writers.fetch_add(1, std::memory_order_relaxed);
    value_ = variable.value_;
  }
  Tensor& value() { return value_; }

 private:
  Tensor value_;
};

VariableState::VariableState(std::string name, DType dtype, Shape shape)
    : name_(std::move(name)),
      dtype_(dtype),
      shape_(std::move(shape)),
      plain_(dtype != DType::String && dtype != DType::Variant) {}

VariableState::~VariableState() { charge(0); }

VariableState::Storage& VariableState::storage() const { return *static_cast<Storage*>(value_.buffer()); }

bool VariableState::is_live(const Buffer& buffer) { return dynamic_cast<const Storage*>(&buffer) != nullptr; }

bool VariableState::initialized() const {
  std::lock_guard lock(mutex_);
  return value_.valid();
}

Tensor VariableState::read() const {
  Tensor live;
  std::shared_ptr<DeviceMemory> memory;
  {
    std::lock_guard lock(mutex_);
    if (!value_.valid()) fail_uninitialized();
    const Storage& now = storage();
    if (now.writers.load(std::memory_order_acquire) == 0) {
      now.memory()->retain();
      return Tensor(dtype_, value_.shape(), now.memory(), const_cast<void*>(value_.raw()));
    }
    live = value_;
    memory = memory_;
  }
  return copy_in(memory.get(), live);
}

Tensor VariableState::read_live() const {
  if (!plain_) return read();
  std::lock_guard lock(mutex_);
  if (!value_.valid()) fail_uninitialized();
  return value_;
}

void VariableState::assign(Tensor value) {
  if (value.dtype() != dtype_) {
    throw invalid_argument("variable '{}' is {}; it cannot take a value of type {}", name_, dtype_name(dtype_),
                           dtype_name(value.dtype()));
  }
  Tensor old;
  std::lock_guard lock(mutex_);
  charge(value.bytes());
  value = is_live(*value.buffer()) ? copy_in(memory_.get(), value) : memory_ ? memory_->moved_here(value) : value;
  old = value_;  // released after the lock
  keep(std::move(value));
}

void VariableState::copy_from(const void* data, const Shape& shape, UpdateMode mode) {
  Tensor old;
  InPlaceWrite write;
  {
    std::lock_guard lock(mutex_);
    const bool fits = value_.valid() && value_.shape() == shape && !storage().has_snapshots();
    if (fits && mode != UpdateMode::Atomic && plain_) {
      write.begin(*this);
    } else {
      if (!fits || !storage().unique()) {
        charge(static_cast<size_t>(shape.elements()) * dtype_size(dtype_));
        Tensor fresh = memory_ ? memory_->place(dtype_, shape) : Tensor(dtype_, shape);
        old = value_;
        keep(std::move(fresh));
      }
      copy_here(memory_.get(), data, value_);
      return;
    }
  }
  [[maybe_unused]] RacingWrites racing;
  copy_here(memory_.get(), data, write.value());
}

bool VariableState::clear() {
  Tensor old;
  std::lock_guard lock(mutex_);
  old = std::exchange(value_, Tensor());
  charge(0);
  return old.valid();
}

void VariableState::stand_on(DeviceMemory* memory) {
  std::lock_guard lock(mutex_);
  if (memory_.get() == memory) return;
  charge(0);
  const std::shared_ptr<DeviceMemory> before = std::exchange(memory_, memory ? memory->shared_from_this() : nullptr);
  if (!value_.valid()) return;
  charge(value_.bytes());
  Tensor moved = before ? before->to_host(value_) : value_;
  if (memory_) moved = memory_->moved_here(moved);
  if (moved.raw() != value_.raw()) keep(std::move(moved));
}

void VariableState::charge(size_t bytes) {
  if (!memory_ || bytes == charged_) return;
  memory_->charge("variable '" + name_ + "'", static_cast<int64_t>(charged_), static_cast<int64_t>(bytes));
  charged_ = bytes;
}

void VariableState::keep(Tensor value) {
  value.buffer()->retain();
  value_ = Tensor(dtype_, value.shape(), new Storage(value.buffer()), value.mutable_raw());
}

// Makes the value one that no snapshot holds and, if that is asked for, no live reader and no writer in place either.
void VariableState::detach(bool from_live_readers) {
  if (!value_.valid()) fail_uninitialized();
  if (storage().has_snapshots() || (from_live_readers && !storage().unique())) keep(copy_in(memory_.get(), value_));
}

void VariableState::update(FunctionRef<void(Tensor&)> change, UpdateMode mode) {
  VariableState* self = this;
  update_together({&self, 1}, mode, [&](std::span<Tensor* const> values) { change(*values[0]); });
}

void VariableState::update_together(std::span<VariableState* const> variables, UpdateMode mode,
                                    FunctionRef<void(std::span<Tensor* const>)> change) {
  if (variables.size() > kMaxTogether) throw error(Code::Internal, "{} variables at once", variables.size());
  // Locked in the order of their addresses, so that two updates of the same variables cannot wait for each other.
  std::array<VariableState*, kMaxTogether> sorted{};
  auto end = std::copy(variables.begin(), variables.end(), sorted.begin());
  std::sort(sorted.begin(), end, std::less<>());
  if (auto same = std::adjacent_find(sorted.begin(), end); same != end) {
    throw invalid_argument("variable '{}' is given twice where different ones are wanted", (*same)->name());
  }
  const std::span<VariableState* const> order(sorted.data(), variables.size());
  const bool plain = std::all_of(variables.begin(), variables.end(), [](VariableState* v) { return v->plain_; });
  if (!plain) mode = UpdateMode::Atomic;

  std::array<std::unique_lock<std::mutex>, kMaxTogether> updates;
  if (mode != UpdateMode::Unlocked) {
    for (size_t i = 0; i < order.size(); ++i) updates[i] = std::unique_lock(order[i]->updates_);
  }
  if (mode == UpdateMode::Atomic) return change_atomically(variables, order, change);
  std::array<InPlaceWrite, kMaxTogether> writes;
  std::array<Tensor*, kMaxTogether> values{};
  for (size_t i = 0; i < variables.size(); ++i) {
    std::lock_guard lock(variables[i]->mutex_);
    writes[i].begin(*variables[i]);
    values[i] = &writes[i].value();
  }
  change(std::span<Tensor* const>(values.data(), variables.size()));
}

void VariableState::change_atomically(std::span<VariableState* const> variables, std::span<VariableState* const> order,
                                      FunctionRef<void(std::span<Tensor* const>)> change) {
  std::array<std::unique_lock<std::mutex>, kMaxTogether> locks;
  for (size_t i = 0; i < order.size(); ++i) locks[i] = std::unique_lock(order[i]->mutex_);
  std::array<Tensor*, kMaxTogether> values{};
  for (size_t i = 0; i < variables.size(); ++i) {
    variables[i]->detach(/*from_live_readers=*/true);
    values[i] = &variables[i]->value_;
  }
  change(std::span<Tensor* const>(values.data(), variables.size()));
}

void VariableState::fail_uninitialized() const {
  throw error(Code::FailedPrecondition, "Attempting to use uninitialized value {}", name_);
}

}  // namespace weir
