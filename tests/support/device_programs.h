#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "weir/session.h"

// Programs that every kind of device must run as the CPU does.
namespace weir::testing {

// A program makes its graph, runs it in the session of `make`, and gives what it fetched.
using MakeSession = std::function<std::unique_ptr<Session>(Graph&)>;
using Program = std::function<std::vector<Tensor>(const MakeSession& make)>;
struct DeviceProgram {
  std::string_view name;
  Program run;
};
std::vector<DeviceProgram> device_programs();

// Fixed numbers in [-1, 1], and integers below `modulus`.
Tensor numbers(const Shape& shape, int seed = 0);
Tensor counted(const Shape& shape, int64_t modulus, int64_t step = 3);

}  // namespace weir::testing
