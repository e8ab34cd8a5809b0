#include "runtime/derived_function.h"

#include "base/errors.h"
#include "graph/attr_proto.h"
#include "graph/bodies.h"
#include "graph/function_def.h"
#include "graph/functions.h"
#include "graph/graph_def.h"
#include "weir/gradients.h"
#include "weir/ops.h"

namespace weir {
namespace {

const proto::FunctionDef* find_in(const proto::FunctionDefLibrary& library, const std::string& name) {
  for (const proto::FunctionDef& function : library.function()) {
    if (function.signature().name() == name) return &function;
  }
  return nullptr;
}

std::vector<DType> types_of(const google::protobuf::RepeatedPtrField<proto::OpDef::ArgDef>& args) {
  std::vector<DType> types;
  for (const proto::OpDef::ArgDef& arg : args) {
    if (arg.type() == proto::DT_INVALID) {
      throw invalid_argument("the argument '{}' of the function has a type that its calls decide", arg.name());
    }
    types.push_back(static_cast<DType>(arg.type()));
  }
  return types;
}

// A graph of one node "call" that calls the function with "arg0", "arg1", ..., and all functions that this needs.
struct CallGraph {
  CallGraph(const Graph& graph, const std::string& name) {
    proto::FunctionDefLibrary& library = *message.mutable_library();
    std::string written = name;
    {
      std::lock_guard lock(graph.impl().storage.mutex);
      library.ParseFromString(graph.impl().storage.function_library);
      const Body* body = find_body(graph, name);
      if (body && body->is_function) written = FunctionWriter(library).write_function(*body);
    }
    const proto::FunctionDef* function = find_in(library, written);
    if (!function) throw not_found("Function {} is not defined.", name);
    arguments = types_of(function->signature().input_arg());
    results = types_of(function->signature().output_arg());
    proto::NodeDef& call = *message.add_node();
    call.set_name("call");
    call.set_op("StatefulPartitionedCall");
    attr_to_proto(arguments, (*call.mutable_attr())["Tin"]);
    attr_to_proto(results, (*call.mutable_attr())["Tout"]);
    (*call.mutable_attr())["f"].mutable_func()->set_name(written);
    for (size_t i = 0; i < arguments.size(); ++i) call.add_input("arg" + std::to_string(i));
  }

  // The nodes of the function in `graph`, where nodes go now; gives its results.
  std::vector<Output> inline_in(Graph& graph, std::span<const Output> parameters) const {
    ImportOptions options;
    for (size_t i = 0; i < parameters.size(); ++i)
      options.input_map.emplace_back("arg" + std::to_string(i), parameters[i]);
    for (size_t i = 0; i < results.size(); ++i) options.return_elements.push_back("call:" + std::to_string(i));
    return import_graph(graph, message, options).outputs;
  }

  proto::GraphDef message;
  std::vector<DType> arguments, results;
};

bool differentiable(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

// Zeros for an argument that no result depends on; of a variable's handle: of its shape.
Output zeros_for(const Output& x, DType type) {
  if (x.dtype() != DType::Resource) return zeros_like(x);
  return zeros_like(NodeBuilder("ReadVariableOp").input(x).attr("dtype", type).output());
}

std::vector<Output> gradients_of(const std::vector<Output>& ys, std::span<const Output> xs,
                                 std::span<const Output> grad_ys, std::span<const DType> types) {
  std::vector<Output> from, wanted;
  GradientsOptions options;
  for (size_t i = 0; i < ys.size(); ++i) {
    if (!differentiable(ys[i].dtype())) continue;
    from.push_back(ys[i]);
    options.grad_ys.push_back(grad_ys[i]);
  }
  for (const Output& x : xs) {
    if (differentiable(x.dtype()) || x.dtype() == DType::Resource) wanted.push_back(x);
  }
  std::vector<Gradient> found(wanted.size());
  if (!from.empty() && !wanted.empty()) found = gradients(from, wanted, options);
  std::vector<Output> results;
  size_t next = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    const bool asked = next < wanted.size() && wanted[next] == xs[i];
    const Gradient& gradient = asked ? found[next++] : Gradient();
    results.push_back(gradient.none() ? zeros_for(xs[i], types[i]) : gradient.dense());
    if (results.back().dtype() != types[i]) {
      throw invalid_argument("the gradient of argument {} is {}; {} is wanted", i, dtype_name(results.back().dtype()),
                             dtype_name(types[i]));
    }
  }
  return results;
}

PlanEnvironment with_resources(const PlanEnvironment& environment, SessionResources& resources) {
  return {.devices = environment.devices,
          .lanes = environment.lanes,
          .resources = resources,
          .arenas = environment.arenas,
          .options = environment.options};
}

}  // namespace

DerivedFunction::DerivedFunction(const Graph& graph, const std::string& name,
                                 std::optional<std::span<const DType>> gradient_types,
                                 const PlanEnvironment& environment, std::stop_token closed)
    : resources_{environment.resources.named, {}, nullptr},
      runner_(std::make_shared<SessionFunctions>(graph_, with_resources(environment, resources_), std::move(closed))) {
  const CallGraph call(graph, name);
  const size_t count = call.arguments.size();
  if (gradient_types && gradient_types->size() != count) {
    throw invalid_argument("the function '{}' has {} arguments; {} gradients are wanted", name, count,
                           gradient_types->size());
  }
  std::vector<FunctionArgument> arguments;
  for (DType type : call.arguments) arguments.push_back({type, type == DType::Resource ? Shape{} : Shape::unknown()});
  if (gradient_types) {
    for (DType type : call.results) arguments.push_back({type, Shape::unknown()});
  }
  auto make = [&](const std::vector<Output>& parameters) {
    const std::span<const Output> all(parameters), xs = all.first(count);
    std::vector<Output> ys = call.inline_in(graph_, xs);
    return gradient_types ? gradients_of(ys, xs, all.subspan(count), *gradient_types) : ys;
  };
  const std::string made = trace_function(graph_, name, arguments, make).name;
  resources_.functions = runner_;
  functions_ = runner_->functions();
  function_ = &functions_->find(made);
}

void DerivedFunction::end() {
  runner_->end();
  resources_.functions.reset();  // which the runner itself refers to
}

}  // namespace weir
