#pragma once

#include <stop_token>
#include <string_view>
#include <vector>

#include "weir/tensor.h"

namespace weir::ops {

// Calls the function of the program that `token` names. Gives one tensor for each type; throws weir::Error. Runs call
// it from any thread. `stop`, which may be null, is the token that the program gave the run: runs that the function
// makes end with it.
using CallPythonFunction = std::vector<Tensor> (*)(std::string_view token, std::vector<Tensor> inputs,
                                                   const std::vector<DType>& types, const std::stop_token* stop);
// What PyFunc calls. Process-wide, because a graph knows functions by token alone; set once, by the Python package.
void set_python_caller(CallPythonFunction caller);

}  // namespace weir::ops
