#include "devices/accelerator/accelerator_device.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "devices/accelerator/device_mover.h"
#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "devices/cpu_device.h"

namespace weir::accelerator {
namespace {

// As TensorFlow does, some of the memory is left to the driver and to what it draws on a screen with.
int64_t memory_limit(const DriverInfo& info, double fraction) {
  constexpr double kOwn = 0.95;
  return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(info.memory) * kOwn * fraction));
}

}  // namespace

AcceleratorDevice::AcceleratorDevice(int index, std::shared_ptr<Engine> engine, const AcceleratorOptions& options)
    : Device("GPU", index, /*wraps_kernels=*/true),
      engine_(std::move(engine)),
      pool_(shared_pool("GPU", index, 1)),
      memory_(std::make_shared<AcceleratorMemory>(
          short_name(), engine_->shared_driver(),
          Allocator::Options{.limit = memory_limit(engine_->driver().info(), options.memory_fraction),
                             .allow_growth = options.allow_growth},
          options.transfers)) {}

const Kernel* AcceleratorDevice::kernel(const NodeView& node, std::span<const DType> inputs,
                                        std::span<const DType> outputs) const {
  return find_kernel(node, inputs, outputs, engine_->driver().info().has_double);
}

void AcceleratorDevice::launch(ComputeFn compute, KernelContext& context) const {
  const Current before = std::exchange(current, Current{engine_.get(), memory_.get()});
  struct Restore {
    Current before;
    ~Restore() { current = before; }
  } restore{before};
  const DeviceMover mover;
  try {
    compute(context);
  } catch (...) {
    memory_->forget_checks();  // the run ends here, and the next one of this thread is another's
    throw;
  }
}

std::string AcceleratorDevice::description() const {
  const DriverInfo& info = engine_->driver().info();
  const int64_t in_use = engine_->driver().in_use();
  return fmt::format(
      "{}, {}, {} units, {}{}", info.name, info.kind, info.units, info.driver,
      in_use < 0 ? "" : fmt::format(", {} of {} in use", readable_bytes(in_use), readable_bytes(info.memory)));
}

}  // namespace weir::accelerator
