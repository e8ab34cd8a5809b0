#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/accelerator/driver.h"
#include "devices/cuda/api.h"
#include "devices/cuda/blas.h"
#include "devices/cuda/dnn.h"

namespace weir::cuda {

// Where the libraries come from, when a kernel first asks for one. Null, or what gives null: there is none.
struct Libraries {
  const BlasApi* (*blas)() = nullptr;
  const DnnApi* (*dnn)() = nullptr;
};

// The CUDA devices of the machine. Opens libcuda.so.1 and NVRTC; without them there are none.
std::vector<std::shared_ptr<accelerator::Driver>> find_drivers(const Libraries& libraries);
// Those that a table of functions shows, which must outlive them.
std::vector<std::shared_ptr<accelerator::Driver>> find_drivers(const Api& api, const Libraries& libraries = {});

// A source in CUDA C++ as PTX for an architecture such as "compute_80". Throws InvalidArgument with the compiler's log.
std::string compile_ptx(const Api& api, const std::string& source, const std::string& architecture);

}  // namespace weir::cuda
