#include "devices/device.h"

#include "base/errors.h"

namespace weir {

Device::Device(std::string type, int index, bool wraps_kernels)
    : accelerator_(type != "CPU"), wraps_kernels_(wraps_kernels) {
  spec_ = {.job = "localhost", .replica = 0, .task = 0, .type = std::move(type), .index = index};
  name_ = spec_.str();
}

void Device::belong_to(const DeviceSpec& task) {
  spec_.job = task.job;
  spec_.replica = task.replica;
  spec_.task = task.task;
  name_ = spec_.str();
}

Tensor Device::allocate(DType dtype, const Shape& shape, std::string_view holder) const {
  return memory() ? memory()->allocate(dtype, shape, holder) : Tensor(dtype, shape);
}

DeviceInfo Device::info() const {
  return {.name = name_,
          .type = type(),
          .memory_limit = memory() ? memory()->limit() : 0,
          .threads = pool().threads(),
          .description = description()};
}

}  // namespace weir
