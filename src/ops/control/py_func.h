#pragma once

#include <string_view>
#include <vector>

#include "weir/tensor.h"

namespace weir::ops {

// Calls the function of the program that `token` names. Gives one tensor for each type; throws weir::Error. Runs call
// it from any thread.
using CallPythonFunction = std::vector<Tensor> (*)(std::string_view token, std::vector<Tensor> inputs,
                                                   const std::vector<DType>& types);
// What PyFunc calls. Process-wide, because a graph knows functions by token alone; set once, by the Python package.
void set_python_caller(CallPythonFunction caller);

}  // namespace weir::ops
