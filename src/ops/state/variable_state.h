#pragma once

#include <mutex>
#include <span>
#include <string>

#include "base/resource.h"
#include "base/thread_pool.h"
#include "devices/memory.h"
#include "weir/tensor.h"

namespace weir {

// A variable of a session: both spellings (VariableV2 and VarHandleOp) are this. It has value semantics: a read is a
// snapshot that shares the buffer; a write happens in place when nobody else holds the buffer, and in a copy otherwise,
// so that snapshots never change.
//
// Thread-safe. Writes are atomic: readers see a value before or after one, never between. Once a buffer is there and no
// snapshot of it is held, nothing here allocates.
class VariableState final : public Resource {
 public:
  // `shape` may be partly unknown, for a variable that takes the shape of its values.
  VariableState(std::string name, DType dtype, Shape shape);
  ~VariableState() override;

  std::string describe() const override { return "variable '" + name_ + "'"; }
  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }  // as declared

  bool initialized() const;
  // Throws FailedPrecondition when there is no value yet.
  Tensor read() const;
  // Shares the value's buffer. Throws InvalidArgument when its type is another.
  void assign(Tensor value);
  // Copies `shape` elements of the variable's type, into the present buffer if it fits.
  void copy_from(const void* data, const Shape& shape);
  // Back to no value.
  void clear();

  // From now on the value is on the account of this memory (null: of none), and ResourceExhausted is thrown by what
  // would make it larger than there is room.
  void stand_on(DeviceMemory* memory);

  // Calls `change` with the value, which nobody else holds then. Throws FailedPrecondition when there is none. When
  // `change` throws, the variable keeps what was written so far.
  void update(FunctionRef<void(Tensor&)> change);
  // The same for several variables at once, which must be different ones (InvalidArgument). At most kMaxTogether.
  static constexpr size_t kMaxTogether = 4;
  static void update_together(std::span<VariableState* const> variables,
                              FunctionRef<void(std::span<Tensor* const>)> change);

 private:
  // REQUIRES for both: mutex_ is held.
  Tensor& unique_value();
  void charge(size_t bytes);  // before the value takes so many
  [[noreturn]] void fail_uninitialized() const;

  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  mutable std::mutex mutex_;
  Tensor value_;  // guarded by mutex_, as are the next two; invalid before the first assignment
  std::shared_ptr<DeviceMemory> memory_;
  size_t charged_ = 0;
};

}  // namespace weir
