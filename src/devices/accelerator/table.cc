#include "devices/accelerator/table.h"

#include <unordered_map>

#include "devices/accelerator/program.h"
#include "graph/op.h"

namespace weir::accelerator {
namespace {

using Table = std::unordered_map<std::string_view, const KernelRow*>;

Table make_table() {
  Table table;
  for (const auto& rows : {borrowed_kernels(), convolution_kernels(), elementwise_kernels(), index_kernels(),
                           normalization_kernels(), optimizer_kernels(), pooling_kernels(), product_kernels(),
                           random_kernels(), reduction_kernels(), softmax_kernels(), through_host_kernels()}) {
    for (const KernelRow& row : rows) table.emplace(row.op, &row);
  }
  return table;
}

const Table& table() {
  static const Table rows = make_table();
  return rows;
}

bool can_hold(DType type, bool with_double) {
  if (type == DType::Resource || type == DType::Variant) return true;
  return has_type(type) && (with_double || type != DType::Float64);
}

}  // namespace

bool has_row(std::string_view op) { return table().contains(op); }

const Kernel* find_kernel(const NodeView& node, std::span<const DType> inputs, std::span<const DType> outputs,
                          bool with_double) {
  const Op& op = node.op();
  auto found = table().find(op.name);
  if (found == table().end()) return nullptr;
  const KernelRow& row = *found->second;
  if (op.role == Role::Copy) return &row.kernel;  // of any type: the plan copies bytes, or keeps objects of the host
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!op.input_arg(i, node.attrs()).on_host && !can_hold(inputs[i], with_double)) return nullptr;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!op.output_arg(i, node.attrs()).on_host && !can_hold(outputs[i], with_double)) return nullptr;
  }
  if (row.accepts && !row.accepts(node, inputs, outputs)) return nullptr;
  return &row.kernel;
}

}  // namespace weir::accelerator
