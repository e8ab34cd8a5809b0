#include "nn/control_flow.h"

#include "base/errors.h"
#include "graph/bodies.h"
#include "nn/convert.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir {
namespace {

// Types and shapes as TensorFlow's Python writes them in these messages.
std::string python_name(DType dtype) {
  if (dtype == DType::Float32) return "float32";
  if (dtype == DType::Float64) return "float64";
  if (dtype == DType::Float16) return "float16";
  return std::string(dtype_name(dtype));
}

std::string python_shape(const Shape& shape) {
  if (!shape.has_rank()) return "<unknown>";
  std::string text;
  for (int64_t dim : shape.dims()) text += (text.empty() ? "" : ", ") + (dim < 0 ? "?" : std::to_string(dim));
  return "(" + text + (shape.rank() == 1 ? ",)" : ")");
}

void require_scalar_bool(const Output& predicate, std::string_view name, std::string_view op) {
  if (predicate.dtype() != DType::Bool) {
    throw invalid_argument("Input '{}' of '{}' Op has type {} that does not match expected type of bool.", name, op,
                           python_name(predicate.dtype()));
  }
  if (predicate.shape().has_rank() && predicate.shape().rank() != 0) {
    throw invalid_argument("Shape must be rank 0 but is rank {} for '{}' (op: '{}')", predicate.shape().rank(),
                           predicate.name(), op);
  }
}

// A result that a body can give: references are read inside, at the end of the body.
Output as_value(const Output& result) { return result.is_ref() ? identity(result) : result; }

void fill_branch(Graph& graph, Body& body, const std::function<std::vector<Output>()>& make) {
  BodyScope scope(graph, &body);
  for (const Output& result : make()) {
    if (!result) throw invalid_argument("a branch of a cond gives an empty tensor");
    body.results.push_back(as_value(result));
  }
}

std::vector<Output> results_of(const Operation& op, size_t count, std::string_view name) {
  std::vector<Output> results;
  for (size_t i = 0; i < count; ++i) results.push_back(identity(op.output(static_cast<int>(i)), name));
  return results;
}

// The program's line, unless a composed function around this one has set it.
std::optional<LineScope> line_of(Graph& graph, const In::Where& where) {
  if (graph.impl().scopes.line) return std::nullopt;
  return std::optional<LineScope>(std::in_place, graph, source_line(where));
}

}  // namespace

std::vector<Output> cond(const In& predicate, const std::function<std::vector<Output>()>& then,
                         const std::function<std::vector<Output>()>& otherwise, std::string_view name) {
  Graph& graph = nn::graph_of(predicate);
  std::vector<Output> results;
  Scope scope = graph.name_scope(name.empty() ? "cond" : name);
  Output pred = as_value(predicate.output());
  require_scalar_bool(pred, "pred", "Switch");
  if (!pred.shape().has_rank()) {  // a run is to find out that it is none
    pred = identity(pred, "pred_id");
    pred.set_shape({});
  }
  const std::string base = graph.current_name_scope();
  Body& then_branch = add_body(graph, base + "_true", false);
  fill_branch(graph, then_branch, then);
  Body& else_branch = add_body(graph, base + "_false", false);
  fill_branch(graph, else_branch, otherwise);
  if (then_branch.results.size() != else_branch.results.size()) {
    throw invalid_argument("true_fn and false_fn must return the same number of outputs: {}, {}",
                           then_branch.results.size(), else_branch.results.size());
  }
  for (size_t i = 0; i < then_branch.results.size(); ++i) {
    DType a = then_branch.results[i].dtype(), b = else_branch.results[i].dtype();
    if (a == b) continue;
    throw invalid_argument("Outputs of true_fn and false_fn must have the same type: {}, {}", python_name(a),
                           python_name(b));
  }
  std::optional<LineScope> line = line_of(graph, predicate.where());
  Operation op = add_if(graph, pred, then_branch, else_branch, "If");
  return results_of(op, then_branch.results.size(), "Merge");
}

Output cond(const In& predicate, const std::function<Output()>& then, const std::function<Output()>& otherwise,
            std::string_view name) {
  auto list = [](const std::function<Output()>& make) { return [&make] { return std::vector<Output>{make()}; }; };
  return cond(predicate, std::function<std::vector<Output>()>(list(then)),
              std::function<std::vector<Output>()>(list(otherwise)), name)[0];
}

Operation cond(const In& predicate, const std::function<Operation()>& then, const std::function<Operation()>& otherwise,
               std::string_view name) {
  Graph& graph = nn::graph_of(predicate);
  // As in TensorFlow, what stands for the operation is the predicate, to be had when the operation is done.
  auto done = [&](const std::function<Operation()>& make) {
    return [&graph, &predicate, &make] {
      Operation op = make();
      Scope after = graph.control_dependencies({op});
      return std::vector<Output>{identity(predicate.output(), "control_dependency")};
    };
  };
  return cond(predicate, std::function<std::vector<Output>()>(done(then)),
              std::function<std::vector<Output>()>(done(otherwise)), name)[0]
      .op();
}

Output case_(const std::vector<Case>& cases, const std::function<Output()>& otherwise, const CaseOptions& options,
             In::Where where) {
  if (cases.empty()) throw invalid_argument("there are no cases to choose from");
  Graph& graph = cases[0].first.graph();
  std::optional<LineScope> line = line_of(graph, where);
  Scope scope = graph.name_scope(options.name.empty() ? "case" : options.name);
  std::vector<Output> predicates;
  for (const Case& each : cases) predicates.push_back(each.first);
  std::optional<Scope> checked;
  if (options.exclusive) {
    Output count = reduce_sum(cast(stack(predicates, 0, "preds_c"), int32, "count_true_conds"));
    Operation at_most_one = assert_true(count <= 1, {"Input error: exclusive=True", stack(predicates)});
    checked.emplace(graph.control_dependencies({at_most_one}));
  }
  std::function<Output()> action = otherwise;
  size_t last = cases.size();
  if (!action) {
    action = [&] {
      Operation any =
          assert_true(predicates.back(), {"Input error: None of conditions evaluated as True:", stack(predicates)});
      Scope after = graph.control_dependencies({any});
      return identity(cases.back().second());
    };
    --last;
  }
  for (size_t i = last; i-- > 0;) {
    action = [&each = cases[i], rest = std::move(action)] { return cond(each.first, each.second, rest); };
  }
  return action();
}

std::vector<Output> while_loop(const LoopCondition& condition, const LoopBody& body, const InList& initial,
                               const WhileOptions& options) {
  if (initial.values().empty()) throw invalid_argument("No loop variables provided");
  return nn::while_loop(ops::graph_of(initial), condition, body, initial.values(), options,
                        initial.values()[0].where());
}

std::vector<Output> nn::while_loop(Graph& graph, const LoopCondition& condition, const LoopBody& body,
                                   const std::vector<In>& initial, const WhileOptions& options, In::Where where) {
  if (initial.empty()) throw invalid_argument("No loop variables provided");
  if (options.parallel_iterations < 1) throw invalid_argument("parallel_iterations must be a positive integer.");
  Scope scope = graph.name_scope(options.name.empty() ? "while" : options.name);
  const std::string base = graph.current_name_scope();

  std::vector<Output> variables;
  std::vector<Shape> invariants;
  Output limit;
  {
    std::optional<LineScope> line = line_of(graph, where);
    if (options.maximum_iterations) {
      limit = as_output(graph, *options.maximum_iterations, int32, "maximum_iterations");
      if (limit.shape().has_rank() && limit.shape().rank() != 0) {
        throw invalid_argument("maximum_iterations must be a scalar, saw shape: {}", python_shape(limit.shape()));
      }
      variables.push_back(graph.constant(0, limit.dtype(), "iteration_counter"));
      invariants.emplace_back();
    }
    for (const In& value : initial) variables.push_back(ops::to_output(graph, value, "Const"));
  }
  const size_t first = limit ? 1 : 0;  // of the program's variables
  if (!options.shape_invariants.empty() && options.shape_invariants.size() != initial.size()) {
    throw invalid_argument("{} shape_invariants are given for {} loop variables", options.shape_invariants.size(),
                           initial.size());
  }
  for (size_t i = first; i < variables.size(); ++i) {
    const Shape& enters = variables[i].shape();
    const Shape& invariant = options.shape_invariants.empty() ? enters : options.shape_invariants[i - first];
    if (common_shape(invariant, enters) != invariant) {
      throw invalid_argument(
          "The shape invariant specified for {} is not compatible with the initial shape of the loop variable. It "
          "enters the loop with shape {}, but the specified shape invariant is {}.",
          variables[i].name(), python_shape(enters), python_shape(invariant));
    }
    invariants.push_back(invariant);
  }

  // The names are those that TensorFlow's loops give to what stands at these places.
  auto parameters = [&](Body& where_to, std::string_view name) {
    for (size_t i = 0; i < variables.size(); ++i) {
      where_to.parameters.push_back(graph.placeholder(variables[i].dtype(), invariants[i], name, where));
    }
    return std::vector<Output>(where_to.parameters.begin() + static_cast<std::ptrdiff_t>(first),
                               where_to.parameters.end());
  };
  Body& loop_condition = add_body(graph, base + "_cond", true);
  {
    BodyScope inside(graph, &loop_condition);
    std::vector<Output> values = parameters(loop_condition, "Merge");
    Output within = limit ? less(loop_condition.parameters[0], limit) : Output();
    Output goes_on = condition(values);
    if (!goes_on) throw invalid_argument("the condition of a while_loop gives an empty tensor");
    require_scalar_bool(goes_on, "input", "LoopCond");
    loop_condition.results = {within ? logical_and(within, goes_on) : as_value(goes_on)};
  }
  Body& loop_body = add_body(graph, base + "_body", true);
  {
    BodyScope inside(graph, &loop_body);
    std::vector<Output> values = parameters(loop_body, "Identity");
    loop_body.initial = variables;
    if (limit) loop_body.results.push_back(loop_body.parameters[0] + 1);
    std::vector<Output> next = body(values);
    if (next.size() != values.size()) {
      throw invalid_argument("the loop has {} variables; its body gives {} tensors", values.size(), next.size());
    }
    for (const Output& result : next) {
      if (!result) throw invalid_argument("the body of a while_loop gives an empty tensor");
      check_readable(*result.node(), &loop_body, base + "/NextIteration");
      loop_body.results.push_back(as_value(result));
    }
    loop_body.initial.clear();
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    const Output& next = loop_body.results[i];
    if (next.dtype() != variables[i].dtype()) {
      throw invalid_argument("Input tensor '{}' enters the loop with type {}, but has type {} after one iteration.",
                             variables[i].name(), python_name(variables[i].dtype()), python_name(next.dtype()));
    }
    if (common_shape(invariants[i], next.shape()) != invariants[i]) {
      throw invalid_argument(
          "Input tensor '{}' enters the loop with shape {}, but has shape {} after one iteration. To allow the shape "
          "to "
          "vary across iterations, use the `shape_invariants` argument of tf.while_loop to specify a less-specific "
          "shape.",
          variables[i].name(), python_shape(variables[i].shape()), python_shape(next.shape()));
    }
  }
  std::optional<LineScope> line = line_of(graph, where);
  Operation op = add_while(graph, variables, loop_condition, loop_body,
                           {.parallel_iterations = options.parallel_iterations, .back_prop = options.back_prop});
  std::vector<Output> results = results_of(op, variables.size(), "Exit");
  results.erase(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(first));
  return results;
}

}  // namespace weir
