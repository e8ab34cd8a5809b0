#include <numeric>

#include "base/errors.h"
#include "ops/list/tensor_array_versions.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "tensor/elements.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer_gather(InferContext& c) {
  c.require_rank(1, 1);
  c.require_scalar(2);
  c.set_output(0, with_leading(c.input(1).has_rank() ? c.input(1)[0] : kUnknown, c.attr<Shape>("element_shape")));
}

void infer_pack(InferContext& c) {
  c.require_scalar(1);
  c.set_output(0, with_leading(kUnknown, c.attr<Shape>("element_shape")));
}

void gather_gradient(GradContext& c) {
  const GradientArray grads = gradient_array(c, c.input(2));
  c.set_input_grad(2, NodeBuilder(same_version(c, "TensorArrayScatter"))
                          .input(grads.handle)
                          .input(c.input(1))
                          .input(c.output_grad())
                          .input(grads.flow)
                          .output());
}

void pack_gradient(GradContext& c) {
  const GradientArray grads = gradient_array(c, c.input(1));
  c.set_input_grad(
      1, NodeBuilder("TensorArrayUnpack").input(grads.handle).input(c.output_grad()).input(grads.flow).output());
}

void give_rows(KernelContext& c, TensorArrayState& array, std::span<const int32_t> indices) {
  const DType dtype = c.node().type("dtype");
  array.require_dtype(dtype, false);
  const auto& wanted = c.node().attr<Shape>("element_shape");
  array.merge_element_shape(wanted);
  if (indices.empty()) {
    const Shape element = array.element_shape();
    if (!element.is_known()) {
      throw error(Code::Unimplemented,
                  "TensorArray has size zero, but element shape {} is not fully defined. Currently only static shapes "
                  "are supported when packing zero-size TensorArrays.",
                  element.str());
    }
    c.set_output(0, Tensor(dtype, with_leading(0, element)));
    return;
  }
  const std::vector<Tensor> values = array.read(indices);
  const Shape& element = values[0].shape();
  if (!element.compatible(wanted)) {
    throw invalid_argument("TensorArray was passed element_shape {} which does not match the Tensor at index 0: {}",
                           wanted.str(), element.str());
  }
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i].shape() == element) continue;
    throw invalid_argument("TensorArray has inconsistent shapes.  Index 0 has shape: {} but index {} has shape: {}",
                           element.str(), i, values[i].shape().str());
  }
  Tensor rows(dtype, with_leading(static_cast<int64_t>(values.size()), element));
  auto* data = static_cast<char*>(rows.mutable_raw());
  for (const Tensor& value : values) {
    copy_elements(dtype, value.raw(), data, value.elements());
    data += value.bytes();
  }
  c.set_output(0, std::move(rows));
}

void gather(KernelContext& c) {
  give_rows(c, tensor_array(c), {c.input<int32_t>(1), static_cast<size_t>(c.elements(1))});
}

void pack(KernelContext& c) {
  TensorArrayState& array = tensor_array(c);
  std::vector<int32_t> all(static_cast<size_t>(array.size_to_join()));
  std::iota(all.begin(), all.end(), 0);
  give_rows(c, array, all);
}

OpDef row(const ArrayVersion& version) {
  return array_row(version, {.name = version.name,
                             .outputs = "value:dtype",
                             .attrs = "dtype:type; element_shape:shape=unknown",
                             .host = "indices",
                             .infer = infer_gather,
                             .gradient = gather_gradient,
                             .cpu = {.select = kernel_any<gather>, .gives_outputs = true}});
}

}  // namespace

OpDef tensor_array_gather_op() {
  return row({"TensorArrayGather", "handle:Ref(string); indices:int32; flow_in:float", "deprecated@16"});
}
OpDef tensor_array_gather_v2_op() {
  return row({"TensorArrayGatherV2", "handle:string; indices:int32; flow_in:float", "deprecated@26"});
}
OpDef tensor_array_gather_v3_op() {
  return row({"TensorArrayGatherV3", "handle:resource; indices:int32; flow_in:float", "stateful"});
}
OpDef tensor_array_pack_op() {
  return array_row({"TensorArrayPack", "handle:Ref(string); flow_in:float", "deprecated@16"},
                   {.name = "TensorArrayPack",
                    .outputs = "value:dtype",
                    .attrs = "dtype:type; element_shape:shape=unknown",
                    .infer = infer_pack,
                    .gradient = pack_gradient,
                    .cpu = {.select = kernel_any<pack>, .gives_outputs = true}});
}

}  // namespace weir::ops
