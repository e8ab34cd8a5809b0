#pragma once

#include "devices/accelerator/launch.h"
#include "ops/array/strided_copy.h"
#include "ops/element_mover.h"

namespace weir::accelerator {

// Moves elements about in the memory of the device that this thread runs kernels for; the thread's mover while it
// lives.
class DeviceMover final : public ops::ElementMover {
 public:
  DeviceMover() : before_(ops::ElementMover::current()) { set_current(this); }
  ~DeviceMover() { set_current(before_); }
  DeviceMover(const DeviceMover&) = delete;
  DeviceMover& operator=(const DeviceMover&) = delete;

  void copy_box(DType dtype, const ops::StridedBox& box, void* to, const void* from) override;
  void zero(void* to, size_t bytes) override;
  Tensor place(DType dtype, const Shape& shape) override { return accelerator::current.memory->place(dtype, shape); }
  bool holds(const void* data) const override { return accelerator::current.memory->holds(data); }

 private:
  ops::ElementMover* before_;
};

}  // namespace weir::accelerator
