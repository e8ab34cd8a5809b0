#include <numeric>

#include "base/errors.h"
#include "ops/list/tensor_array_versions.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "tensor/elements.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  c.set_output(0, with_leading(kUnknown, c.attr<Shape>("element_shape_except0")));
  c.set_output(1, Shape{kUnknown});
}

void gradient(GradContext& c) {
  if (!c.has_output_grad()) return;
  const GradientArray grads = gradient_array(c, c.input(1));
  c.set_input_grad(1, NodeBuilder(same_version(c, "TensorArraySplit"))
                          .input(grads.handle)
                          .input(c.output_grad())
                          .input(c.output(1))
                          .input(grads.flow)
                          .output());
}

void cpu(KernelContext& c) {
  TensorArrayState& array = tensor_array(c);
  const DType dtype = c.node().type("dtype");
  array.require_dtype(dtype, false);
  const auto& wanted = c.node().attr<Shape>("element_shape_except0");
  std::vector<int32_t> all(static_cast<size_t>(array.size_to_join()));
  std::iota(all.begin(), all.end(), 0);
  if (all.empty()) {
    if (!wanted.is_known()) {
      throw error(Code::Unimplemented,
                  "TensorArray has size zero, but element_shape_except0 {} is not fully defined. Currently only static "
                  "shapes are supported when concatenating zero-size TensorArrays.",
                  wanted.str());
    }
    c.set_output(0, Tensor(dtype, with_leading(0, wanted)));
    c.set_output(1, Tensor(DType::Int64, Shape{0}));
    return;
  }
  const std::vector<Tensor> values = array.read(all);
  Shape row;
  int64_t rows = 0;
  Tensor lengths(DType::Int64, Shape{static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    const Shape& shape = values[i].shape();
    if (shape.rank() == 0) {
      throw invalid_argument(
          "Concat saw a scalar shape at index {} but requires at least vectors.  Did you mean to call pack?", i);
    }
    const Shape here(shape.dims().subspan(1));
    if (i == 0 && !here.compatible(wanted)) {
      throw invalid_argument(
          "TensorArray was passed element_shape_except0 {} but index 0 has (excepting dimension 0) shape: {} which "
          "does "
          "not match.",
          wanted.str(), here.str());
    }
    if (i == 0) row = here;
    if (here != row) {
      throw invalid_argument(
          "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: {} but index {} has "
          "(excepting dimension 0) shape: {}",
          row.str(), i, here.str());
    }
    lengths.mutable_data<int64_t>()[i] = shape[0];
    rows = checked_add(rows, shape[0]);
  }
  Tensor joined(dtype, with_leading(rows, row));
  auto* data = static_cast<char*>(joined.mutable_raw());
  for (const Tensor& value : values) {
    copy_elements(dtype, value.raw(), data, value.elements());
    data += value.bytes();
  }
  c.set_output(0, std::move(joined));
  c.set_output(1, std::move(lengths));
}

OpDef row(const ArrayVersion& version) {
  return array_row(version, {.name = version.name,
                             .outputs = "value:dtype; lengths:int64",
                             .attrs = "dtype:type; element_shape_except0:shape=unknown",
                             .host = "lengths",
                             .infer = infer,
                             .gradient = gradient,
                             .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}});
}

}  // namespace

OpDef tensor_array_concat_op() {
  return row({"TensorArrayConcat", "handle:Ref(string); flow_in:float", "deprecated@16"});
}
OpDef tensor_array_concat_v2_op() { return row({"TensorArrayConcatV2", "handle:string; flow_in:float"}); }
OpDef tensor_array_concat_v3_op() { return row({"TensorArrayConcatV3", "handle:resource; flow_in:float", "stateful"}); }

}  // namespace weir::ops
