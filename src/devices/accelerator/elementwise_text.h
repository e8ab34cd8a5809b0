#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devices/accelerator/program.h"
#include "ops/elementwise.h"

namespace weir::accelerator {

// How an input reaches element i of the output.
enum class Reach : uint8_t {
  Direct,   // x[i]
  Scalar,   // x[0]
  Repeat,   // x[i % period]: trailing dimensions
  Stretch,  // x[i / period]: leading dimensions
  Strided,  // any other way to broadcast
};

// An elementwise program as a kernel of the dialect: elementwise(inputs ..., output, n, periods or strides ..., sizes).
// The types are those of the inputs and of the output.
std::string elementwise_text(const ElementwiseProgram& program, std::span<const DType> inputs, DType output,
                             std::span<const Reach> reaches);

// Whether the dialect has the function for elements of that type. Division of integers is not among them: it can fail.
bool has_function(UnaryFn fn, DType type);
bool has_function(BinaryFn fn, DType type);
bool gives_truth(UnaryFn fn);
bool gives_truth(BinaryFn fn);

}  // namespace weir::accelerator
