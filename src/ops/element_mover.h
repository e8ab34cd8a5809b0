#pragma once

#include <cstddef>
#include <cstdint>

#include "weir/tensor.h"

namespace weir::ops {

class StridedBox;

// How kernels that only move elements about (Concat, Transpose, lists, ...) reach a memory that is not the host's: a
// device whose kernels borrow them sets the mover of the thread that runs them, and copy_box() and its kin go by it.
class ElementMover {
 public:
  virtual void copy_box(DType dtype, const StridedBox& box, void* to, const void* from) = 0;
  virtual void zero(void* to, size_t bytes) = 0;
  // Uninitialised elements in the device's memory.
  virtual Tensor place(DType dtype, const Shape& shape) = 0;
  // Whether that address is the device's.
  virtual bool holds(const void* data) const = 0;

  // Of this thread; null: everything is in the host's memory.
  static ElementMover* current() { return current_; }

 protected:
  ~ElementMover() = default;
  static void set_current(ElementMover* mover) { current_ = mover; }

 private:
  static constinit thread_local ElementMover* current_;
};

// A tensor for a kernel's result, in the memory of the device that runs it.
Tensor place_result(DType dtype, const Shape& shape);

}  // namespace weir::ops
