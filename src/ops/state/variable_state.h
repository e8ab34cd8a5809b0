#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <string>

#include "base/resource.h"
#include "base/thread_pool.h"
#include "devices/memory.h"
#include "weir/tensor.h"

namespace weir {

// How an update of a variable goes together with what other threads do.
enum class UpdateMode {
  // Excludes other updates but unlocked ones. Readers see the value before or after it, never between: it happens in
  // place when nobody holds the memory, and in a copy otherwise.
  Atomic,
  // Excludes other updates but unlocked ones. Happens in place, also under the eyes of live readers.
  InPlace,
  // The same without excluding anybody: updates of the same elements at the same time may get lost.
  Unlocked,
};

// A variable of a session: both spellings (VariableV2 and VarHandleOp) are this. It has value semantics: a read is a
// snapshot that shares the memory and never changes; a write happens in place when nobody holds a snapshot, and in a
// copy otherwise.
//
// Runs that are through with a value before they write the variable themselves read it live instead: they hold the
// memory, but updates of other runs that ask for no locking may change it meanwhile. So a large table is never copied
// because somebody else looks at some of its rows.
//
// Thread-safe. Variables of strings and variants are always read as snapshots and updated atomically. Once memory is
// there and no snapshot of it is held, nothing here allocates.
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
  // Both throw FailedPrecondition when there is no value yet. A snapshot that is taken while others write in place is a
  // copy.
  Tensor read() const;
  Tensor read_live() const;
  // Whether it is the memory of what read_live() gave, which may change.
  static bool is_live(const Buffer& buffer);

  // Shares the value's buffer, which nobody may change any more. Throws InvalidArgument when its type is another.
  void assign(Tensor value);
  // Copies `shape` elements of the variable's type, into the present memory if it fits.
  void copy_from(const void* data, const Shape& shape, UpdateMode mode = UpdateMode::Atomic);
  // Back to no value. False: there was none.
  bool clear();

  // From now on the value is on the account of this memory (null: of none), and ResourceExhausted is thrown by what
  // would make it larger than there is room.
  void stand_on(DeviceMemory* memory);

  // Calls `change` with the value, which it may write. Throws FailedPrecondition when there is none. When `change`
  // throws, the variable keeps what was written so far.
  void update(FunctionRef<void(Tensor&)> change, UpdateMode mode = UpdateMode::Atomic);
  // The same for several variables at once, which must be different ones (InvalidArgument). At most kMaxTogether.
  static constexpr size_t kMaxTogether = 4;
  static void update_together(std::span<VariableState* const> variables, UpdateMode mode,
                              FunctionRef<void(std::span<Tensor* const>)> change);

 private:
  class Storage;
  class InPlaceWrite;

  // REQUIRES for all of these: mutex_ is held.
  Storage& storage() const;
  void keep(Tensor value);  // as the value from now on
  void detach(bool from_live_readers);
  void charge(size_t bytes);  // before the value takes so many
  [[noreturn]] void fail_uninitialized() const;

  static void change_atomically(std::span<VariableState* const> variables, std::span<VariableState* const> order,
                                FunctionRef<void(std::span<Tensor* const>)> change);

  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  const bool plain_;    // elements are numbers, which others may look at while they are written
  std::mutex updates_;  // held by updates that exclude each other; taken before mutex_
  mutable std::mutex mutex_;
  Tensor
      value_;  // guarded by mutex_, as are the next two; its buffer is a Storage; invalid before the first assignment
  std::shared_ptr<DeviceMemory> memory_;
  size_t charged_ = 0;
};

}  // namespace weir
