#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/net/collective_rounds.h"
#include "ops/run_control.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

using Kind = CollectiveCall::Kind;

struct State {
  ResourcePtr<Collectives> collectives;
  CollectiveCall call;
};

template <Kind kind>
State prepare(PrepareContext& c) {
  const AttrMap& attrs = c.node().attrs();
  const AttrValue* device = attrs.find("_device");
  State state{.collectives = c.resources().find_or_make<Collectives>(
                  Collectives::kContainer, Collectives::kName,
                  [] { return ResourcePtr<Collectives>(make_resource<LocalCollectives>()); }),
              .call = {.kind = kind,
                       .group_size = c.attr<int64_t>("group_size"),
                       .group_key = c.attr<int64_t>("group_key"),
                       .instance_key = c.attr<int64_t>("instance_key"),
                       .dtype = c.attr<DType>("T"),
                       .device = device ? std::get<std::string>(*device) : "/device:CPU:0",
                       .node = std::string(c.node().name())}};
  if constexpr (kind == Kind::Reduce) {
    state.call.merge_op = c.attr<std::string>("merge_op");
    state.call.final_op = c.attr<std::string>("final_op");
  } else if constexpr (kind == Kind::Receive) {
    state.call.shape = c.attr<Shape>("shape");
  }
  return state;
}

void check_group(InferContext& c) {
  if (c.attr<int64_t>("group_size") < 1) {
    c.fail(fmt::format("group_size must be positive integer but got {}", c.attr<int64_t>("group_size")));
  }
}

void infer_reduce(InferContext& c) {
  check_group(c);
  c.set_output(0, c.input(0));
}

void infer_gather(InferContext& c) {
  check_group(c);
  c.require_min_rank(0, 1);
  Shape shape = c.input(0);
  if (shape.has_rank() && shape.dim(0) != kUnknown) shape.set_dim(0, shape.dim(0) * c.attr<int64_t>("group_size"));
  c.set_output(0, shape);
}

void infer_broadcast(InferContext& c) {
  check_group(c);
  const Shape& shape = c.attr<Shape>("shape");
  if (!shape.is_known()) c.fail(fmt::format("the shape of a broadcast must be fully known, and is {}", shape.str()));
  if (c.inputs() > 0 && !shape.compatible(c.input(0))) {
    c.fail(fmt::format("Declared shape of op {} does not match shape of input data {}", shape.str(), c.input(0).str()));
  }
  c.set_output(0, shape);
}

template <Kind kind>
void start(KernelContext& c, Completion done) {
  const auto& state = c.state<State>();
  CollectiveCall call = state.call;
  Tensor input;
  if constexpr (kind != Kind::Receive) {
    call.shape = c.shape(0);
    input = c.input_tensor(0);
  }
  const std::stop_token stop = c.control() ? c.control()->stop : std::stop_token();
  state.collectives->run(call, std::move(input), stop, [&c, done](Tensor result, std::exception_ptr failed) {
    if (!failed) c.set_output(0, std::move(result));
    done(std::move(failed));
  });
}

template <Kind kind>
constexpr Kernel kKernel = {.start = start_any<start<kind>>, .prepare = prepared<prepare<kind>>};

constexpr std::string_view kBroadcastAttrs =
    "T:type{float,half,double,int32,int64}; group_size:int; group_key:int; instance_key:int; shape:shape; "
    "communication_hint:string='auto'";

}  // namespace

OpDef collective_reduce_op() {
  return {.name = "CollectiveReduce",
          .inputs = "input:T",
          .outputs = "data:T",
          .attrs =
              "T:type{float,half,double,int32,int64}; group_size:int; group_key:int; instance_key:int; "
              "merge_op:string{Min,Max,Mul,Add}; final_op:string{Id,Div}; subdiv_offsets:list(int); "
              "wait_for:list(int)=[]; communication_hint:string='auto'",
          .flags = "stateful",
          .host = "input, data",
          .infer = infer_reduce,
          .gradient = not_differentiable,
          .cpu = kKernel<Kind::Reduce>,
          .waits = true};
}

OpDef collective_gather_op() {
  return {.name = "CollectiveGather",
          .inputs = "input:T",
          .outputs = "data:T",
          .attrs = kBroadcastAttrs,
          .flags = "stateful",
          .host = "input, data",
          .infer = infer_gather,
          .gradient = not_differentiable,
          .cpu = kKernel<Kind::Gather>,
          .waits = true};
}

OpDef collective_bcast_send_op() {
  return {.name = "CollectiveBcastSend",
          .inputs = "input:T",
          .outputs = "data:T",
          .attrs = kBroadcastAttrs,
          .flags = "stateful",
          .host = "input, data",
          .infer = infer_broadcast,
          .gradient = not_differentiable,
          .cpu = kKernel<Kind::Send>,
          .waits = true};
}

OpDef collective_bcast_recv_op() {
  return {.name = "CollectiveBcastRecv",
          .outputs = "data:T",
          .attrs = kBroadcastAttrs,
          .flags = "stateful",
          .host = "data",
          .infer = infer_broadcast,
          .gradient = not_differentiable,
          .cpu = kKernel<Kind::Receive>,
          .waits = true};
}

}  // namespace weir::ops
