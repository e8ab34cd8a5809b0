#include <fmt/core.h>

#include "command.h"
#include "weir/device.h"
#include "weir/session_options.h"

namespace weir::tool {
namespace {

std::string readable(int64_t bytes) {
  return bytes > 0 ? fmt::format("{:.1f} GB", static_cast<double>(bytes) / (1 << 30)) : "the machine's";
}

int devices(std::span<const std::string> arguments) {
  if (!parse_arguments(arguments, {}).positional.empty()) throw UsageError("it takes no arguments");
  fmt::print("{:<8} {:>14}  {}\n", "device", "memory", "what it is");
  for (const DeviceInfo& device : list_local_devices()) {
    const std::string name = device.name.substr(device.name.rfind("device:") + 7);
    fmt::print("{:<8} {:>14}  {}\n", "/" + name, readable(device.memory_limit), device.description);
  }
  return 0;
}

}  // namespace

const Command kDevices = {
    .name = "devices",
    .usage = "",
    .summary = "Lists the devices that a session here has",
    .help =
        "CPUs, CUDA and OpenCL GPUs, or virtual GPUs (WEIR_VIRTUAL_GPUS=2). WEIR_OPENCL_CPU=1 adds OpenCL's CPU "
        "devices,\n"
        "such as PoCL's. Memory is what a session may use; docs/devices.md tells more.\n",
    .run = devices,
};

}  // namespace weir::tool
