#include "base/errors.h"
#include "graph/op_def.h"
#include "ops/list/tensor_array_state.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape{2});
  if (c.outputs() > 1) c.set_output(1, Shape{});
}

void cpu(KernelContext& c) {
  const NodeView& node = c.node();
  const auto& prefix = node.attr<std::string>("tensor_array_name");
  const AttrValue* identical = node.attrs().find("identical_element_shapes");
  TensorArrayState::Options options{.dtype = node.type("dtype"),
                                    .size = c.scalar<int32_t>(0),
                                    .element_shape = node.attr<Shape>("element_shape"),
                                    .identical_element_shapes = identical && std::get<bool>(*identical),
                                    .dynamic_size = node.attr<bool>("dynamic_size"),
                                    .clear_after_read = node.attr<bool>("clear_after_read")};
  const std::string name = c.state<RunHandlesState>().handles->unique_name(prefix.empty() ? node.name() : prefix);
  give_run_handle(c, "_tensor_arrays", name, make_resource<TensorArrayState>(name, std::move(options)));
  if (c.outputs() > 1) *c.output<float>(1) = 0;
}

OpDef row(std::string_view name, std::string_view flags, std::string_view outputs, std::string_view attrs) {
  return {.name = name,
          .inputs = "size:int32",
          .outputs = outputs,
          .attrs = attrs,
          .flags = flags,
          .host = "size",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare_run_handles>},
          .effect = Effect::Other};
}

}  // namespace

OpDef tensor_array_op() {
  return row("TensorArray", "stateful,deprecated@16", "handle:Ref(string)",
             "dtype:type; dynamic_size:bool=False; clear_after_read:bool=True; tensor_array_name:string=''; "
             "element_shape:shape=unknown");
}
OpDef tensor_array_v2_op() {
  return row("TensorArrayV2", "stateful,deprecated@26", "handle:string",
             "dtype:type; element_shape:shape=unknown; dynamic_size:bool=False; clear_after_read:bool=True; "
             "tensor_array_name:string=''");
}
OpDef tensor_array_v3_op() {
  return row("TensorArrayV3", "stateful", "handle:resource; flow:float",
             "dtype:type; element_shape:shape=unknown; dynamic_size:bool=False; clear_after_read:bool=True; "
             "identical_element_shapes:bool=False; tensor_array_name:string=''");
}

}  // namespace weir::ops
