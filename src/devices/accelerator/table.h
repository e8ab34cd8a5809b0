#pragma once

#include <span>
#include <string_view>

#include "ops/kernel.h"

namespace weir::accelerator {

// How accelerators compute an operation: a row of one of the tables below. Kernels begin their work on the device of
// this thread (launch.h) and return.
struct KernelRow {
  std::string_view op;
  Kernel kernel;
  // Whether it can be computed on values of these types, which the dialect has; null: it can.
  bool (*accepts)(const NodeView& node, std::span<const DType> inputs, std::span<const DType> outputs) = nullptr;
};

std::span<const KernelRow> borrowed_kernels();  // the CPU's, of what reads and writes no elements
std::span<const KernelRow> convolution_kernels();
std::span<const KernelRow> elementwise_kernels();
std::span<const KernelRow> index_kernels();
std::span<const KernelRow> normalization_kernels();
std::span<const KernelRow> optimizer_kernels();
std::span<const KernelRow> pooling_kernels();
std::span<const KernelRow> product_kernels();
std::span<const KernelRow> random_kernels();
std::span<const KernelRow> reduction_kernels();
std::span<const KernelRow> softmax_kernels();
std::span<const KernelRow> through_host_kernels();  // the CPU's, on copies

// The texts of all updates of variables, for tests that compile everything.
void intern_update_kernels();

// Null: the CPU computes it. `with_double`: the device has double precision.
const Kernel* find_kernel(const NodeView& node, std::span<const DType> inputs, std::span<const DType> outputs,
                          bool with_double);

// Whether accelerators compute the operation, on values of some types at least.
bool has_row(std::string_view op);

// For KernelRow::accepts.
inline bool first_is_float(const NodeView&, std::span<const DType> inputs, std::span<const DType>) {
  return inputs[0] == DType::Float32 || inputs[0] == DType::Float64;
}
inline bool output_is_float(const NodeView&, std::span<const DType>, std::span<const DType> outputs) {
  return outputs[0] == DType::Float32 || outputs[0] == DType::Float64;
}
template <ComputeFn kFn>
ComputeFn always(const NodeView&) {
  return kFn;
}

}  // namespace weir::accelerator
