#include "devices/virtual_gpu.h"

#include <algorithm>

#include "devices/cpu_device.h"
#include "graph/op.h"
#include "ops/evaluate.h"

namespace weir {

const Kernel* borrowed_kernel(const NodeView& node, std::span<const DType> inputs, std::span<const DType> outputs) {
  auto is_string = [](DType type) { return type == DType::String; };
  const bool text =
      std::any_of(inputs.begin(), inputs.end(), is_string) || std::any_of(outputs.begin(), outputs.end(), is_string);
  return text || node.op().def->host_only ? nullptr : &cpu_kernel(node.op());
}

VirtualGpu::VirtualGpu(int index, int threads, int64_t memory_limit)
    : Device("GPU", index),
      pool_(shared_pool("GPU", index, threads)),
      memory_(std::make_shared<DeviceMemory>(short_name(), memory_limit)) {}

const Kernel* VirtualGpu::kernel(const NodeView& node, std::span<const DType> inputs,
                                 std::span<const DType> outputs) const {
  return borrowed_kernel(node, inputs, outputs);
}

std::string VirtualGpu::description() const { return "virtual GPU on " + core_text(*pool_); }

}  // namespace weir
