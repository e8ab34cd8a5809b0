#pragma once

#include <memory>
#include <vector>

#include "devices/accelerator/driver.h"
#include "devices/opencl/blast.h"

namespace weir::opencl {

// Where CLBlast comes from, when a kernel first asks for it, and which products are left to it: it compiles its kernels
// in every process.
struct Libraries {
  const BlastApi* (*blast)() = nullptr;      // null, or what gives null: there is none
  int64_t least_product = int64_t{1} << 21;  // additions
};

// What the machine has: GPUs and accelerators, and then the CPU devices if they are asked for. Opens libOpenCL.so.1; a
// platform that fails has no devices.
std::vector<std::shared_ptr<accelerator::Driver>> find_drivers(bool with_cpus, const Libraries& libraries);

// Whether an OpenCL is installed that may have more than CPU devices: one look at the list of vendors, so that PoCL is
// not loaded (100 ms, with a compiler inside) for a process that does not want it.
bool may_have_gpus();

}  // namespace weir::opencl
