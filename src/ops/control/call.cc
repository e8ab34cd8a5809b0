#include "ops/control/call.h"

#include "base/errors.h"
#include "graph/functions.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op.h"
#include "ops/control/output_shapes.h"
#include "ops/run_control.h"
#include "ops/types.h"
#include "weir/ops.h"

// Operations that call functions of the graph while they run. Imported graphs have few of them: calls are replaced by
// the nodes of their functions there (import/functions.cc).
namespace weir::ops {

CallState prepare_call(PrepareContext& c) {
  return {c.node_resource<NodeFunctions>([&] { return make_resource<NodeFunctions>(c.functions()->functions()); })};
}

std::vector<Tensor> call_arguments(const KernelContext& c, int first, int count) {
  std::vector<Tensor> arguments;
  for (int i = first; i < first + count; ++i) {
    arguments.push_back(c.dtype(i) == DType::Resource ? resource_tensor(c.resource<Resource>(i)) : c.input_tensor(i));
  }
  return arguments;
}

void call_function(KernelContext& c, GraphFunction& function, std::span<const Tensor> arguments) {
  static const RunControl kNone;
  if (static_cast<int>(function.results()) != c.outputs()) {
    throw invalid_argument("the function gives {} results; the node has {} outputs", function.results(), c.outputs());
  }
  std::vector<Tensor> results(function.results());
  function.call(arguments, results, c.control() ? *c.control() : kNone);
  const std::vector<FlatArg> outputs = flatten_args(c.node().op().outputs, c.node().attrs());
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].dtype() != outputs[i].type) {
      throw invalid_argument("result {} of the function is {}; {} is wanted", i, dtype_name(results[i].dtype()),
                             dtype_name(outputs[i].type));
    }
    c.set_output(static_cast<int>(i), std::move(results[i]));
  }
}

namespace {

template <int first>
void call(KernelContext& c) {
  GraphFunction& function = (*c.state<CallState>().functions)->find(c.node().attr<FunctionName>("f").name);
  call_function(c, function, call_arguments(c, first, c.inputs() - first));
}

void infer_nothing(InferContext&) {}

void infer_remote(InferContext& c) { c.require_scalar(0); }

// The type of the gradient with respect to a tensor: of a variable's handle that of the variable; Invalid: there is
// none.
DType gradient_type(const Output& x) {
  if (x.dtype() != DType::Resource) return x.dtype();
  const Node* handle = x.node();
  while (handle->op->role == Role::Identity) handle = handle->inputs[0].node();
  return handle->op->role == Role::Variable ? handle->attrs.get<DType>("dtype") : DType::Invalid;
}

bool differentiable(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

// The arguments of a gradient function: those of the call, and a gradient for each of its outputs.
struct GradientCall {
  GradientCall(GradContext& c, int first) {
    for (int i = first; i < c.inputs(); ++i) {
      inputs.push_back(c.input(i));
      types.push_back(gradient_type(c.input(i)));
      if (types.back() == DType::Invalid) {
        c.op().node()->fail(Code::Unimplemented,
                            "there is no gradient through a call with a handle that is no variable's of the graph");
      }
    }
    for (int i = 0; i < c.outputs(); ++i) {
      inputs.push_back(c.has_output_grad(i) ? c.raw_output_grad(i).dense() : zeros_like(c.output(i)));
    }
  }
  void give(GradContext& c, int first, const Operation& gradient) const {
    for (size_t i = 0; i < types.size(); ++i) {
      if (differentiable(types[i])) c.set_input_grad(first + static_cast<int>(i), gradient.output(static_cast<int>(i)));
    }
  }
  std::vector<Output> inputs;
  std::vector<DType> types;
};

Operation symbolic_gradient(Graph& graph, const std::vector<Output>& inputs, const std::vector<DType>& types,
                            const FunctionName& function) {
  return graph.add({.op = "SymbolicGradient", .inputs = inputs, .attrs = {{"Tout", types}, {"f", function}}});
}

// As in TensorFlow: a SymbolicGradient of the function.
template <int first>
void call_gradient(GradContext& c) {
  const GradientCall call(c, first);
  if (call.types.empty()) return;
  call.give(c, first, symbolic_gradient(c.graph(), call.inputs, call.types, c.attr<FunctionName>("f")));
}

void gradient_of_function(KernelContext& c) {
  const auto& types = c.node().attr<std::vector<DType>>("Tout");
  GraphFunction& function =
      (*c.state<CallState>().functions)->find_gradient(c.node().attr<FunctionName>("f").name, types);
  call_function(c, function, call_arguments(c, 0, c.inputs()));
}

// Gradients have the shapes of what they are with respect to.
void infer_gradient(InferContext& c) {
  if (c.inputs() < c.outputs()) throw invalid_argument("len(inputs) < len(outputs)");
  for (int i = 0; i < c.outputs(); ++i) {
    const bool is_handle = c.attr<std::vector<DType>>("Tin")[static_cast<size_t>(i)] == DType::Resource;
    c.set_output(i, is_handle ? Shape::unknown() : c.input(i));
  }
}

void infer_case(InferContext& c) {
  c.require_scalar(0);
  infer_declared_shapes(c);
}

// An index outside is that of the last branch.
void call_branch(KernelContext& c) {
  const auto& branches = c.node().attr<std::vector<FunctionName>>("branches");
  const auto index = c.scalar<int32_t>(0);
  const size_t last = branches.size() - 1;
  const FunctionName& branch = branches[index < 0 ? last : std::min(static_cast<size_t>(index), last)];
  call_function(c, (*c.state<CallState>().functions)->find(branch.name), call_arguments(c, 1, c.inputs() - 1));
}

// A Case of the branches' gradients.
void case_gradient(GradContext& c) {
  const GradientCall call(c, 1);
  if (call.types.empty()) return;
  std::vector<FunctionArgument> arguments;
  for (const Output& input : call.inputs) arguments.push_back({input.dtype(), input.shape()});
  std::vector<FunctionName> gradients;
  for (const FunctionName& branch : c.attr<std::vector<FunctionName>>("branches")) {
    auto make = [&](const std::vector<Output>& parameters) {
      const Operation op = symbolic_gradient(c.graph(), parameters, call.types, branch);
      std::vector<Output> results;
      for (int i = 0; i < op.outputs(); ++i) results.push_back(op.output(i));
      return results;
    };
    gradients.push_back({trace_function(c.graph(), branch.name + "_grad", arguments, make).name, {}});
  }
  std::vector<Output> inputs = {c.input(0)};
  inputs.insert(inputs.end(), call.inputs.begin(), call.inputs.end());
  call.give(c, 1,
            c.graph().add({.op = "Case", .inputs = inputs, .attrs = {{"Tout", call.types}, {"branches", gradients}}}));
}

constexpr std::string_view kCallAttrs =
    "Tin:list(type)>=0; Tout:list(type)>=0; f:func; config:string=''; config_proto:string=''; executor_type:string=''";

OpDef call_row(std::string_view name, std::string_view flags) {
  return {.name = name,
          .inputs = "args:Tin",
          .outputs = "output:Tout",
          .attrs = kCallAttrs,
          .flags = flags,
          .host = "args, output",
          .infer = infer_nothing,
          .gradient = call_gradient<0>,
          .cpu = {.select = kernel_any<call<0>>, .prepare = prepared<prepare_call>, .gives_outputs = true},
          .waits = flags == "stateful",  // its function may
          .host_only = true};
}

}  // namespace

OpDef partitioned_call_op() { return call_row("PartitionedCall", ""); }
OpDef stateful_partitioned_call_op() { return call_row("StatefulPartitionedCall", "stateful"); }

// The function runs in the process of the node, whatever the target says.
OpDef remote_call_op() {
  return {.name = "RemoteCall",
          .inputs = "target:string; args:Tin",
          .outputs = "output:Tout",
          .attrs = "Tin:list(type)>=1; Tout:list(type)>=1; f:func",
          .flags = "stateful",
          .host = "target, args, output",
          .infer = infer_remote,
          .cpu = {.select = kernel_any<call<1>>, .prepare = prepared<prepare_call>, .gives_outputs = true},
          .waits = true,
          .host_only = true};
}

OpDef symbolic_gradient_op() {
  return {.name = "SymbolicGradient",
          .inputs = "input:Tin",
          .outputs = "output:Tout",
          .attrs = "Tin:list(type)>=1; Tout:list(type)>=1; f:func",
          .host = "input, output",
          .infer = infer_gradient,
          .cpu = {.select = kernel_any<gradient_of_function>, .prepare = prepared<prepare_call>, .gives_outputs = true},
          .host_only = true};
}

OpDef case_op() {
  return {.name = "Case",
          .inputs = "branch_index:int32; input:Tin",
          .outputs = "output:Tout",
          .attrs = "Tin:list(type)>=0; Tout:list(type)>=0; branches:list(func)>=1; output_shapes:list(shape)=[]",
          .flags = "stateful",
          .host = "branch_index, input, output",
          .infer = infer_case,
          .gradient = case_gradient,
          .cpu = {.select = kernel_any<call_branch>, .prepare = prepared<prepare_call>, .gives_outputs = true},
          .waits = true,
          .host_only = true};
}

}  // namespace weir::ops
