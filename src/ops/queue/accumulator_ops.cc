#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/queue/accumulator.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

template <class A>
struct State {
  ResourcePtr<A> accumulator;
};

template <class A>
State<A> prepare(PrepareContext& c) {
  const Accumulator::Options options{.dtype = c.attr<DType>("dtype"),
                                     .shape = c.attr<Shape>("shape"),
                                     .is_mean = c.attr<std::string>("reduction_type") == "MEAN"};
  return {c.named_resource<A>([&](const std::string& name) {
    Accumulator::Options named = options;
    named.name = name;
    return make_resource<A>(named);
  })};
}
template <class A>
void give_handle(KernelContext& c) {
  c.set_resource(0, c.state<State<A>>().accumulator.get());
}

// The accumulator of the gradients' type.
template <class A>
A& accumulator_of(KernelContext& c) {
  auto& accumulator = c.resource<A>(0);
  if (c.node().type("dtype") != accumulator.options().dtype) {
    throw invalid_argument("Signature mismatch: {} has gradients of type {}", accumulator.describe(),
                           dtype_name(accumulator.options().dtype));
  }
  return accumulator;
}

void infer_scalars(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
}

void apply(KernelContext& c) { accumulator_of<DenseAccumulator>(c).add(c.scalar<int64_t>(1), c.input_view(2)); }
void apply_sparse(KernelContext& c) {
  const Tensor shape = c.node().attr<bool>("has_known_shape") ? c.input_view(4) : Tensor();
  accumulator_of<SparseAccumulator>(c).add(c.scalar<int64_t>(1), c.input_view(2), c.input_view(3), shape);
}
template <class A>
void take(KernelContext& c, Completion done) {
  accumulator_of<A>(c).take(c.scalar<int32_t>(1), c, done);
}
void set_global_step(KernelContext& c) { c.resource<Accumulator>(0).set_global_step(c.scalar<int64_t>(1)); }
void accumulated(KernelContext& c) {
  *c.output<int32_t>() = static_cast<int32_t>(c.resource<Accumulator>(0).accumulated());
}
void infer_accumulated(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape{});
}

#define WEIR_GRADIENT_TYPES                                                                                        \
  "dtype:type{float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,uint16,complex128," \
  "half,"                                                                                                          \
  "uint32,uint64}"
constexpr std::string_view kHandleAttrs = WEIR_GRADIENT_TYPES
    "; shape:shape; container:string=''; shared_name:string=''; reduction_type:string{MEAN,SUM}='MEAN'";
constexpr std::string_view kTypeAttrs = WEIR_GRADIENT_TYPES;
constexpr std::string_view kSparseAttrs = WEIR_GRADIENT_TYPES "; has_known_shape:bool";
#undef WEIR_GRADIENT_TYPES

template <class A>
OpDef handle_row(std::string_view name, std::string_view outputs) {
  return {.name = name,
          .outputs = outputs,
          .attrs = kHandleAttrs,
          .flags = "stateful",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<give_handle<A>>, .prepare = prepared<prepare<A>>}};
}
OpDef apply_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .attrs = kTypeAttrs,
          .flags = flags,
          .host = "local_step, gradient",
          .infer = infer_scalars,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<apply>}};
}
OpDef take_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "average:dtype",
          .attrs = kTypeAttrs,
          .flags = flags,
          .host = "num_required, average",
          .infer = infer_scalars,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<take<DenseAccumulator>>},
          .waits = true};
}
OpDef count_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "num_accumulated:int32",
          .flags = flags,
          .host = "num_accumulated",
          .infer = infer_accumulated,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<accumulated>},
          .effect = Effect::Reads};
}
OpDef step_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .flags = flags,
          .host = "new_global_step",
          .infer = infer_scalars,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<set_global_step>}};
}

}  // namespace

OpDef conditional_accumulator_op() {
  return handle_row<DenseAccumulator>("ConditionalAccumulator", "handle:Ref(string)");
}
OpDef resource_conditional_accumulator_op() {
  return handle_row<DenseAccumulator>("ResourceConditionalAccumulator", "handle:resource");
}
OpDef sparse_conditional_accumulator_op() {
  return handle_row<SparseAccumulator>("SparseConditionalAccumulator", "handle:Ref(string)");
}
OpDef accumulator_apply_gradient_op() {
  return apply_row("AccumulatorApplyGradient", "handle:Ref(string); local_step:int64; gradient:dtype", "");
}
OpDef resource_accumulator_apply_gradient_op() {
  return apply_row("ResourceAccumulatorApplyGradient", "handle:resource; local_step:int64; gradient:dtype", "stateful");
}
OpDef sparse_accumulator_apply_gradient_op() {
  return {.name = "SparseAccumulatorApplyGradient",
          .inputs =
              "handle:Ref(string); local_step:int64; gradient_indices:int64; gradient_values:dtype; "
              "gradient_shape:int64",
          .attrs = kSparseAttrs,
          .host = "local_step, gradient_indices, gradient_values, gradient_shape",
          .infer = infer_scalars,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<apply_sparse>}};
}
OpDef accumulator_take_gradient_op() {
  return take_row("AccumulatorTakeGradient", "handle:Ref(string); num_required:int32", "");
}
OpDef resource_accumulator_take_gradient_op() {
  return take_row("ResourceAccumulatorTakeGradient", "handle:resource; num_required:int32", "stateful");
}
OpDef sparse_accumulator_take_gradient_op() {
  return {.name = "SparseAccumulatorTakeGradient",
          .inputs = "handle:Ref(string); num_required:int32",
          .outputs = "indices:int64; values:dtype; shape:int64",
          .attrs = kTypeAttrs,
          .host = "num_required, indices, values, shape",
          .infer = infer_scalars,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<take<SparseAccumulator>>},
          .waits = true};
}
OpDef accumulator_num_accumulated_op() { return count_row("AccumulatorNumAccumulated", "handle:Ref(string)", ""); }
OpDef resource_accumulator_num_accumulated_op() {
  return count_row("ResourceAccumulatorNumAccumulated", "handle:resource", "stateful");
}
OpDef accumulator_set_global_step_op() {
  return step_row("AccumulatorSetGlobalStep", "handle:Ref(string); new_global_step:int64", "");
}
OpDef resource_accumulator_set_global_step_op() {
  return step_row("ResourceAccumulatorSetGlobalStep", "handle:resource; new_global_step:int64", "stateful");
}

}  // namespace weir::ops
