#include "ops/state/variable_state.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/errors.h"
#include "tensor/elements.h"

namespace weir {

VariableState::VariableState(std::string name, DType dtype, Shape shape)
    : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)) {}

VariableState::~VariableState() { charge(0); }

bool VariableState::initialized() const {
  std::lock_guard lock(mutex_);
  return value_.valid();
}

Tensor VariableState::read() const {
  std::lock_guard lock(mutex_);
  if (!value_.valid()) fail_uninitialized();
  return value_;
}

void VariableState::assign(Tensor value) {
  if (value.dtype() != dtype_) {
    throw invalid_argument("variable '{}' is {}; it cannot take a value of type {}", name_, dtype_name(dtype_),
                           dtype_name(value.dtype()));
  }
  std::lock_guard lock(mutex_);
  charge(value.bytes());
  std::swap(value_, value);  // the old buffer is released after the lock
}

void VariableState::copy_from(const void* data, const Shape& shape) {
  Tensor old;
  std::lock_guard lock(mutex_);
  bool reuse = value_.valid() && value_.shape() == shape && value_.buffer()->unique();
  if (!reuse) {
    charge(static_cast<size_t>(shape.elements()) * dtype_size(dtype_));
    Tensor fresh(dtype_, shape);
    old = std::exchange(value_, std::move(fresh));
  }
  copy_elements(dtype_, data, value_.mutable_raw(), value_.elements());
}

void VariableState::clear() {
  Tensor old;
  std::lock_guard lock(mutex_);
  old = std::exchange(value_, Tensor());
  charge(0);
}

void VariableState::stand_on(DeviceMemory* memory) {
  std::lock_guard lock(mutex_);
  if (memory_.get() == memory) return;
  charge(0);
  memory_ = memory ? memory->shared_from_this() : nullptr;
  if (value_.valid()) charge(value_.bytes());
}

void VariableState::charge(size_t bytes) {
  if (!memory_ || bytes == charged_) return;
  memory_->charge("variable '" + name_ + "'", static_cast<int64_t>(charged_), static_cast<int64_t>(bytes));
  charged_ = bytes;
}

void VariableState::update(FunctionRef<void(Tensor&)> change) {
  std::lock_guard lock(mutex_);
  change(unique_value());
}

void VariableState::update_together(std::span<VariableState* const> variables,
                                    FunctionRef<void(std::span<Tensor* const>)> change) {
  if (variables.size() > kMaxTogether) throw error(Code::Internal, "{} variables at once", variables.size());
  // Locked in the order of their addresses, so that two updates of the same variables cannot wait for each other.
  std::array<VariableState*, kMaxTogether> order{};
  auto end = std::copy(variables.begin(), variables.end(), order.begin());
  std::sort(order.begin(), end, std::less<>());
  if (auto same = std::adjacent_find(order.begin(), end); same != end) {
    throw invalid_argument("variable '{}' is given twice where different ones are wanted", (*same)->name());
  }
  std::array<std::unique_lock<std::mutex>, kMaxTogether> locks;
  for (size_t i = 0; i < variables.size(); ++i) locks[i] = std::unique_lock(order[i]->mutex_);
  std::array<Tensor*, kMaxTogether> values{};
  for (size_t i = 0; i < variables.size(); ++i) values[i] = &variables[i]->unique_value();
  change(std::span<Tensor* const>(values.data(), variables.size()));
}

Tensor& VariableState::unique_value() {
  if (!value_.valid()) fail_uninitialized();
  if (!value_.buffer()->unique()) value_ = value_.copy();
  return value_;
}

void VariableState::fail_uninitialized() const {
  throw error(Code::FailedPrecondition, "Attempting to use uninitialized value {}", name_);
}

}  // namespace weir
