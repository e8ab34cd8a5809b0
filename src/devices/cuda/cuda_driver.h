#pragma once

#include <memory>
#include <vector>

#include "devices/accelerator/driver.h"

namespace weir::cuda {

// The CUDA devices of the machine. Opens libcuda.so.1 and libnvrtc; without them there are none.
std::vector<std::shared_ptr<accelerator::Driver>> find_drivers();

}  // namespace weir::cuda
