#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/queue/barrier.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  ResourcePtr<Barrier> barrier;
};

State prepare(PrepareContext& c) {
  if (c.attr<int64_t>("capacity") != -1) {
    throw invalid_argument(
        "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to enforce a limited "
        "capacity.");
  }
  Barrier::Options options{.types = c.attr<std::vector<DType>>("component_types"),
                           .shapes = c.attr<std::vector<Shape>>("shapes")};
  State state{c.named_resource<Barrier>([&](const std::string& name) {
    options.name = name;
    return make_resource<Barrier>(options);
  })};
  state.barrier->require_same(options);
  return state;
}

void give_handle(KernelContext& c) { c.set_resource(0, c.state<State>().barrier.get()); }

void infer_insert(InferContext& c) {
  c.require_scalar(0);
  c.require_rank(1, 1);
  c.require_min_rank(2, 1);
}
void insert(KernelContext& c) {
  c.resource<Barrier>(0).insert_many(c.input_tensor(1), c.node().attr<int64_t>("component_index"), c.input_tensor(2));
}

void infer_take(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
}
void take(KernelContext& c, Completion done) {
  auto& barrier = c.resource<Barrier>(0);
  if (c.node().attr<std::vector<DType>>("component_types") != barrier.options().types) {
    throw invalid_argument("Signature mismatch: the components of {} have other types than the operation wants",
                           barrier.describe());
  }
  if (c.node().attr<int64_t>("timeout_ms") != -1) throw invalid_argument("Timeout not supported yet.");
  const int32_t count = c.scalar<int32_t>(1);
  if (count < 0) throw invalid_argument("num_elements is {}; it must not be negative", count);
  barrier.take_many(count, c.node().attr<bool>("allow_small_batch"), c, done);
}

void infer_close(InferContext& c) { c.require_scalar(0); }
void close(KernelContext& c) { c.resource<Barrier>(0).close(c.node().attr<bool>("cancel_pending_enqueues")); }

void infer_size(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape{});
}
void ready(KernelContext& c) { *c.output<int32_t>() = static_cast<int32_t>(c.resource<Barrier>(0).ready_size()); }
void incomplete(KernelContext& c) {
  *c.output<int32_t>() = static_cast<int32_t>(c.resource<Barrier>(0).incomplete_size());
}

OpDef size_row(std::string_view name, Kernel cpu) {
  return {.name = name,
          .inputs = "handle:Ref(string)",
          .outputs = "size:int32",
          .host = "size",
          .infer = infer_size,
          .gradient = not_differentiable,
          .cpu = cpu,
          .effect = Effect::Reads};
}

}  // namespace

OpDef barrier_op() {
  return {.name = "Barrier",
          .outputs = "handle:Ref(string)",
          .attrs =
              "component_types:list(type)>=1; shapes:list(shape)>=0=[]; capacity:int=-1; container:string=''; "
              "shared_name:string=''",
          .flags = "stateful",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<give_handle>, .prepare = prepared<prepare>}};
}
OpDef barrier_insert_many_op() {
  return {.name = "BarrierInsertMany",
          .inputs = "handle:Ref(string); keys:string; values:T",
          .attrs = "T:type; component_index:int",
          .host = "keys, values",
          .infer = infer_insert,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<insert>}};
}
OpDef barrier_take_many_op() {
  return {.name = "BarrierTakeMany",
          .inputs = "handle:Ref(string); num_elements:int32",
          .outputs = "indices:int64; keys:string; values:component_types",
          .attrs =
              "component_types:list(type)>=1; allow_small_batch:bool=False; wait_for_incomplete:bool=False; "
              "timeout_ms:int=-1",
          .host = "num_elements, indices, keys, values",
          .infer = infer_take,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<take>},
          .waits = true};
}
OpDef barrier_close_op() {
  return {.name = "BarrierClose",
          .inputs = "handle:Ref(string)",
          .attrs = "cancel_pending_enqueues:bool=False",
          .infer = infer_close,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<close>}};
}
OpDef barrier_ready_size_op() { return size_row("BarrierReadySize", {.select = kernel_any<ready>}); }
OpDef barrier_incomplete_size_op() { return size_row("BarrierIncompleteSize", {.select = kernel_any<incomplete>}); }

}  // namespace weir::ops
