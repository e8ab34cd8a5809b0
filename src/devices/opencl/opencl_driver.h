#pragma once

#include <memory>
#include <vector>

#include "devices/accelerator/driver.h"

namespace weir::opencl {

// What the machine has: GPUs and accelerators, and then the CPU devices if they are asked for. Opens libOpenCL.so.1; a
// platform that fails has no devices.
std::vector<std::shared_ptr<accelerator::Driver>> find_drivers(bool with_cpus);

// Whether an OpenCL is installed that may have more than CPU devices: one look at the list of vendors, so that PoCL is
// not loaded (100 ms, with a compiler inside) for a process that does not want it.
bool may_have_gpus();

}  // namespace weir::opencl
