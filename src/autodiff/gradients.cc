#include "weir/gradients.h"

#include <deque>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/errors.h"
#include "graph/body_gradients.h"
#include "graph/grad_context.h"
#include "weir/ops.h"

namespace weir {
namespace {

using GradientRule = std::function<void(GradContext&)>;

bool carries_gradient(const Output& output) { return weir::carries_gradient(output.dtype()); }

// A variable may be read by many nodes. Whoever differentiates with respect to one read means the variable, so the walk
// goes on to the reference or handle, where all reads meet.
Output without_read(const Output& x) {
  const Node& node = *x.node();
  bool ref_read = node.op->role == Role::Identity && node.inputs[0].is_ref();
  return ref_read || node.op->role == Role::Read ? node.inputs[0] : x;
}

// New nodes carry the line of a forward node, whoever asked for gradients; or that line when the node has none, as
// imported ones do.
class ForwardLine {
 public:
  ForwardLine(const Node& node, const SourceLine& asked)
      : slot_(node.graph->impl().scopes.line),
        saved_(std::exchange(slot_, node.line.file.empty() ? asked : node.line)) {}
  ~ForwardLine() { slot_ = std::move(saved_); }
  ForwardLine(const ForwardLine&) = delete;
  ForwardLine& operator=(const ForwardLine&) = delete;

 private:
  std::optional<SourceLine>& slot_;
  std::optional<SourceLine> saved_;
};

// Stands new nodes beside `nodes` alone, leaving colocation scopes around aside.
class Beside {
 public:
  Beside(Graph& graph, std::vector<Node*> nodes)
      : slot_(graph.impl().scopes.colocate), saved_(std::exchange(slot_, std::move(nodes))) {}
  ~Beside() { slot_ = std::move(saved_); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

 private:
  std::vector<Node*>& slot_;
  std::vector<Node*> saved_;
};

// Tells the rules of control flow where the walk goes.
class Differentiated {
 public:
  Differentiated(Graph& graph, const std::unordered_set<const Node*>& nodes, bool colocated)
      : impl_(graph.impl()),
        saved_(std::exchange(impl_.gradients.differentiated, &nodes)),
        colocated_(std::exchange(impl_.gradients.colocate, colocated)) {}
  ~Differentiated() {
    impl_.gradients.differentiated = saved_;
    impl_.gradients.colocate = colocated_;
  }
  Differentiated(const Differentiated&) = delete;
  Differentiated& operator=(const Differentiated&) = delete;

 private:
  Graph::Impl& impl_;
  const std::unordered_set<const Node*>* saved_;
  bool colocated_;
};

// Sums on each device what is there, then the sums.
Output add_dense(const std::vector<Output>& terms) {
  std::map<std::string, std::vector<Output>> by_device;
  for (const Output& term : terms) by_device[term.op().device()].push_back(term);
  std::vector<Output> sums;
  for (const auto& [device, here] : by_device) {
    Beside first(here[0].graph(), {here[0].node()});
    sums.push_back(here.size() == 1 ? here[0] : add_n(here));
  }
  return sums.size() == 1 ? sums[0] : add_n(sums);
}

Gradient add_gradients(const std::vector<Gradient>& terms) {
  if (terms.empty()) return {};
  if (terms.size() == 1) return terms[0];
  bool all_sparse = std::all_of(terms.begin(), terms.end(), [](const Gradient& g) { return g.sparse(); });
  if (!all_sparse) {
    std::vector<Output> dense;
    for (const Gradient& term : terms) dense.push_back(term.dense());
    return add_dense(dense);
  }
  std::vector<Output> values, indices;
  for (const Gradient& term : terms) {
    values.push_back(term.slices().values);
    indices.push_back(term.slices().indices);
  }
  // Lookups by int32 and by int64 of one table, such as words that are given and words that an argmax found.
  if (std::any_of(indices.begin(), indices.end(), [&](const Output& i) { return i.dtype() != indices[0].dtype(); })) {
    for (Output& index : indices) index = cast(index, DType::Int64);
  }
  // Rows may repeat, so joining the lists is adding.
  Output joined = concat(values, 0);
  return IndexedSlices{joined, concat(indices, 0), terms[0].slices().dense_shape};
}

// The walk from ys back to xs, as TensorFlow 1.15 does it: node names and their order are the same.
class Walk {
 public:
  Walk(const std::vector<Output>& ys, std::vector<Output> xs, const GradientsOptions& options, SourceLine line,
       bool in_body = false)
      : graph_(ys[0].graph()),
        ys_(ys),
        xs_(std::move(xs)),
        options_(options),
        line_(std::move(line)),
        in_body_(in_body) {}

  std::vector<Gradient> run() {
    Scope scope = graph_.name_scope(options_.name);
    start();
    find_between();
    Differentiated known_to_rules(graph_, between_, options_.colocate_with_ops);
    std::unordered_set<const Node*> stop = stop_nodes();

    std::deque<Node*> queue;
    std::unordered_set<const Node*> queued;
    for (const Output& y : ys_) {
      Node* node = y.node();
      if (between_.contains(node) && pending_[node] == 0 && queued.insert(node).second) queue.push_back(node);
    }
    while (!queue.empty()) {
      Node* node = queue.front();
      queue.pop_front();
      differentiate(*node, stop.contains(node));
      for (const Output& input : node->inputs) {
        if (--pending_[input.node()] == 0) queue.push_back(input.node());
      }
    }

    std::vector<Gradient> result;
    for (const Output& x : xs_) {
      const std::vector<Gradient>& terms = terms_of(x);
      result.push_back(terms.empty() ? Gradient() : terms[0]);
    }
    return result;
  }

 private:
  // The gradients that reached an output, from each consumer; one, their sum, once its node has been walked.
  std::vector<Gradient>& terms_of(const Output& output) {
    auto& node_terms = grads_[output.node()];
    if (node_terms.empty()) node_terms.resize(output.node()->output_types.size());
    return node_terms[static_cast<size_t>(output.index())];
  }

  // Gives every y its own gradient: the given one, or ones.
  void start() {
    LineScope scope(graph_, line_);
    for (size_t i = 0; i < ys_.size(); ++i) {
      const Output& y = ys_[i];
      std::string name = "grad_ys_" + std::to_string(i);
      std::optional<Scope> colocation;
      if (options_.colocate_with_ops && !in_body_) colocation.emplace(graph_.colocate_with(y.op()));
      Output given = options_.grad_ys.empty() ? Output() : options_.grad_ys[i];
      if (given) {
        if (given.dtype() != y.dtype()) {
          throw wrong_type("Gradient type {} generated for tensor {} with type {} must match: grad_ys[{}]",
                           dtype_name(given.dtype()), y.name(), dtype_name(y.dtype()), i);
        }
        // As in TensorFlow, whose rules take a gradient under another shape as long as the elements are as many.
        const bool as_many =
            given.shape().is_known() && y.shape().is_known() && given.shape().elements() == y.shape().elements();
        if (!given.shape().compatible(y.shape()) && !as_many) {
          throw invalid_argument("grad_ys[{}] '{}' is {} {}; '{}' is {} {}", i, given.name(), dtype_name(given.dtype()),
                                 given.shape().str(), y.name(), dtype_name(y.dtype()), y.shape().str());
        }
        terms_of(y).push_back(identity(given, name));
      } else {
        if (is_complex(y.dtype())) {
          throw wrong_type("Gradients of complex tensors must set grad_ys (y.dtype = tf.{})", dtype_name(y.dtype()));
        }
        Output dims = shape(y);
        terms_of(y).push_back(fill(dims, graph_.constant(1, y.dtype(), name)));
      }
    }
  }

  // The nodes on a path from some x to some y along tensors that carry gradients, and how many consumers among them
  // each still waits for.
  void find_between() {
    std::unordered_set<const Node*> from, reached, seen;
    for (const Output& x : xs_) from.insert(x.node());
    // Producers first. Creation order would not do: loops gain inputs after they were made.
    std::vector<std::pair<const Node*, bool>> stack;
    for (const Output& y : ys_) stack.emplace_back(y.node(), false);
    while (!stack.empty()) {
      auto [node, ready] = stack.back();
      stack.pop_back();
      if (ready) {
        bool is_reached =
            from.contains(node) || std::any_of(node->inputs.begin(), node->inputs.end(), [&](const Output& input) {
              return reached.contains(input.node()) && carries_gradient(input);
            });
        if (is_reached) {
          reached.insert(node);
        } else if (Output initial = initial_value(*node); initial && reached.contains(initial.node())) {
          refuse(initial);
        }
      } else if (seen.insert(node).second) {
        stack.emplace_back(node, true);
        for (const Output& input : node->inputs) stack.emplace_back(input.node(), false);
        if (Output initial = initial_value(*node)) stack.emplace_back(initial.node(), false);
      }
    }
    std::vector<const Node*> todo;
    for (const Output& y : ys_) todo.push_back(y.node());
    while (!todo.empty()) {
      const Node* node = todo.back();
      todo.pop_back();
      if (!reached.contains(node) || !between_.insert(node).second) continue;
      for (const Output& input : node->inputs) todo.push_back(input.node());
    }
    for (const Node* node : between_) {
      for (const Output& input : node->inputs) {
        if (between_.contains(input.node())) ++pending_[input.node()];
      }
    }
  }

  // What a variable of a loop that is being described is before the first iteration; empty for other nodes.
  static Output initial_value(const Node& node) {
    if (!node.body || node.body->initial.empty() || !carries_gradient(node.output_types[0])) return {};
    const std::vector<Output>& parameters = node.body->parameters;
    for (size_t i = 0; i < parameters.size() && i < node.body->initial.size(); ++i) {
      if (parameters[i].node() == &node) return node.body->initial[i];
    }
    return {};
  }

  [[noreturn]] void refuse(const Output& initial) const {
    std::unordered_set<const Node*> seen = {initial.node()};
    std::vector<const Node*> todo = {initial.node()};
    while (!todo.empty()) {
      const Node* node = todo.back();
      todo.pop_back();
      for (const Output& input : node->inputs) {
        if (seen.insert(input.node()).second) todo.push_back(input.node());
      }
    }
    auto x = std::find_if(xs_.begin(), xs_.end(), [&](const Output& each) { return seen.contains(each.node()); });
    throw invalid_argument(
        "Cannot compute gradient inside while loop with respect to op '{}'. We do not support taking the gradient wrt "
        "or "
        "through the initial value of a loop variable. Gradients can be computed through loop invariants or wrt the "
        "input parameters to the loop body.",
        (x == xs_.end() ? initial : *x).node()->name);
  }

  // Where the walk ends: xs that no other x lies behind, and what the caller wants treated as constant.
  std::unordered_set<const Node*> stop_nodes() {
    std::unordered_set<const Node*> stop;
    for (const Output& x : xs_) {
      const auto& inputs = x.node()->inputs;
      bool ends = std::none_of(inputs.begin(), inputs.end(), [&](const Output& in) { return pending_[in.node()] > 0; });
      if (ends) stop.insert(x.node());
    }
    for (const Output& output : options_.stop_gradients) stop.insert(output.node());
    return stop;
  }

  void differentiate(Node& node, bool stops) {
    std::optional<Scope> colocation;
    if (options_.colocate_with_ops) colocation.emplace(graph_.colocate_with(Operation(&node)));
    std::vector<Gradient> output_grads;
    bool any = false;
    {
      ForwardLine line(node, line_);
      for (size_t i = 0; i < node.output_types.size(); ++i) {
        std::vector<Gradient>& terms = terms_of(Output(&node, static_cast<int>(i)));
        Gradient sum = add_gradients(terms);
        any |= !sum.none();
        if (terms.size() > 1) terms = {sum};
        output_grads.push_back(sum);
      }
    }
    if (!any || stops) return;
    const GradientRule rule = rule_of(node);
    const auto* plain = rule.target<void (*)(GradContext&)>();
    if (plain && *plain == not_differentiable) return;
    if (!rule) {
      node.fail(Code::NotFound,
                fmt::format("No gradient defined for operation '{}' (op type: {})", node.name, node.op->name));
    }
    ForwardLine line(node, line_);
    std::vector<Output> missing(output_grads.size());
    // Control flow has outputs that are no results of the program, and makes the zeros that it needs itself.
    const bool flow = is_if(*node.op) || is_while(*node.op);
    for (size_t i = 0; i < missing.size() && !flow; ++i) {
      Output output(&node, static_cast<int>(i));
      if (output_grads[i].none() && carries_gradient(output) && is_value(output)) missing[i] = zeros_of(output);
    }
    std::vector<Gradient> input_grads;
    {
      Scope scope = graph_.name_scope(node.name + "_grad");
      GradContext context(Operation(&node), output_grads, missing);
      rule(context);
      input_grads = context.take_input_grads();
      auto some = [](const Gradient& g) { return !g.none(); };
      if (options_.gate_gradients && std::count_if(input_grads.begin(), input_grads.end(), some) > 1) {
        input_grads = tuple(input_grads);
      }
    }
    for (size_t i = 0; i < input_grads.size(); ++i) {
      if (input_grads[i].none()) continue;
      const Output& input = node.inputs[i];
      if (!input_grads[i].sparse() && is_value(input)) match_shape(node, input, input_grads[i].dense());
      terms_of(input).push_back(std::move(input_grads[i]));
    }
  }

  // The program's rule for the node, that of the operation that it is to be differentiated as, or its own.
  GradientRule rule_of(const Node& node) const {
    const AttrValue* attr = node.attrs.find("_gradient_op_type");
    const auto* given = attr ? std::get_if<std::string>(attr) : nullptr;  // an imported node may carry anything
    const std::string& name = given ? *given : node.op->name;
    const auto& rules = graph_.impl().gradients.rules;
    if (auto found = rules.find(name); found != rules.end()) return found->second;
    const Op* op = given ? find_op(name) : node.op;
    return op ? op->def->gradient : nullptr;
  }

  static bool is_value(const Output& output) {
    return output.dtype() != DType::Resource && output.dtype() != DType::Variant;
  }

  static Output zeros_of(const Output& output) { return NodeBuilder("ZerosLike", "zeros_like").input(output).output(); }

  static void match_shape(const Node& node, const Output& input, const Output& grad) {
    if (!grad.shape().compatible(input.shape())) {
      node.fail(Code::InvalidArgument, fmt::format("the gradient of input '{}' has shape {}; the input has {}",
                                                   input.name(), grad.shape().str(), input.shape().str()));
    }
    grad.set_shape(input.shape());
  }

  Graph& graph_;
  const std::vector<Output>& ys_;
  std::vector<Output> xs_;
  const GradientsOptions& options_;
  SourceLine line_;
  bool in_body_;  // of control flow: what comes in is a variable of the loop, or what the If was given
  std::unordered_map<const Node*, std::vector<std::vector<Gradient>>> grads_;
  std::unordered_set<const Node*> between_;
  std::unordered_map<const Node*, int> pending_;
};

void require_all(const std::vector<Output>& outputs, const Graph& graph, std::string_view what) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) throw invalid_argument("{}[{}] is empty", what, i);
    if (&outputs[i].graph() != &graph) throw invalid_argument("{}[{}] belongs to another graph", what, i);
  }
}

}  // namespace

void not_differentiable(GradContext&) {}

bool carries_gradient(DType dtype) {
  return is_floating(dtype) || is_complex(dtype) || dtype == DType::Resource || dtype == DType::Variant;
}

std::vector<Output> gradients_in_body(const Body& body, const std::vector<Output>& ys,
                                      const std::vector<Output>& grad_ys, const std::vector<Output>& xs) {
  std::vector<Output> dense(xs.size());
  if (ys.empty()) return dense;
  Graph& graph = ys[0].graph();
  const std::string scope = graph.current_name_scope() + "/";
  GradientsOptions options{.grad_ys = grad_ys, .stop_gradients = body.parameters, .name = scope};
  std::optional<Beside> nothing;  // least of all beside the If or While
  if (graph.impl().gradients.colocate) {
    options.colocate_with_ops = true;
    nothing.emplace(graph, std::vector<Node*>());
  }
  std::vector<Gradient> grads = Walk(ys, xs, options, graph.impl().scopes.line.value_or(SourceLine{}), true).run();
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!grads[i].none()) dense[i] = grads[i].dense();
  }
  return dense;
}

GradContext::GradContext(Operation op, const std::vector<Gradient>& output_grads, const std::vector<Output>& zeros)
    : op_(op), output_grads_(output_grads), zeros_(zeros), input_grads_(static_cast<size_t>(op.inputs())) {}
GradContext::~GradContext() = default;

std::vector<Gradient> GradContext::take_input_grads() { return std::move(input_grads_); }

void GradContext::differentiate(const std::vector<Output>& ys, const std::vector<Output>& xs) {
  GradientsOptions options{.name = "second"};
  for (size_t i = 0; i < ys.size(); ++i) options.grad_ys.push_back(output_grad(static_cast<int>(i)));
  const std::vector<Gradient> grads = gradients(ys, xs, options);
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!grads[i].none()) set_input_grad(static_cast<int>(i), grads[i].dense());
  }
}

Output GradContext::output_grad(int index) const {
  const Gradient& grad = output_grads_[static_cast<size_t>(index)];
  if (!grad.none()) return grad.dense();
  const Output& zeros = zeros_[static_cast<size_t>(index)];
  return zeros ? zeros : zeros_like(output(index));
}

Output Gradient::dense() const {
  if (none()) throw error(Code::FailedPrecondition, "there is no gradient: no path leads from the ys to this x");
  if (!sparse()) return slices_.values;
  if (!slices_.dense_shape) {
    throw invalid_argument("the sparse gradient '{}' has no dense shape and cannot be made dense",
                           slices_.values.name());
  }
  LineScope line(slices_.values.graph(), slices_.values.op().line());
  Output rows = strided_slice(slices_.dense_shape, {0}, {1}, {1}, {.shrink_axis_mask = 1});
  return unsorted_segment_sum(slices_.values, slices_.indices, rows);
}

std::vector<Gradient> tuple(const std::vector<Gradient>& tensors, const std::vector<Operation>& control_inputs,
                            std::string_view name, In::Where where) {
  std::vector<Operation> waited;
  for (const Gradient& tensor : tensors) {
    if (tensor.none()) continue;
    Operation op = (tensor.sparse() ? tensor.slices().values : tensor.dense()).op();
    if (std::find(waited.begin(), waited.end(), op) == waited.end()) waited.push_back(op);
  }
  if (waited.empty()) throw invalid_argument("a tuple needs at least one tensor");
  Graph& graph = waited[0].graph();
  std::optional<LineScope> line;
  if (!graph.impl().scopes.line) line.emplace(graph, source_line(where));
  Scope scope = graph.name_scope(name.empty() ? "tuple" : name);
  waited.insert(waited.end(), control_inputs.begin(), control_inputs.end());
  Operation gate = graph.group(waited);
  auto gated = [&](const Output& x) {
    Scope beside = graph.colocate_with(x.op());
    Scope after = graph.control_dependencies({gate});
    return identity(x, "control_dependency");
  };
  std::vector<Gradient> result;
  for (const Gradient& tensor : tensors) {
    if (tensor.none()) {
      result.emplace_back();
    } else if (!tensor.sparse()) {
      result.emplace_back(gated(tensor.dense()));
    } else {
      const IndexedSlices& slices = tensor.slices();
      result.emplace_back(IndexedSlices{gated(slices.values), slices.indices, slices.dense_shape});
    }
  }
  return result;
}

std::vector<Gradient> gradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                const GradientsOptions& options, In::Where where) {
  if (ys.empty()) throw invalid_argument("gradients need at least one y");
  if (!ys[0]) throw invalid_argument("ys[0] is empty");
  Graph& graph = ys[0].graph();
  require_all(ys, graph, "ys");
  require_all(xs, graph, "xs");
  require_all(options.stop_gradients, graph, "stop_gradients");
  if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size()) {
    throw invalid_argument("{} grad_ys are given for {} ys", options.grad_ys.size(), ys.size());
  }
  std::vector<Output> origins;
  for (const Output& x : xs) origins.push_back(without_read(x));
  return Walk(ys, std::move(origins), options, source_line(where)).run();
}

}  // namespace weir
