#include "base/errors.h"
#include "graph/graph_impl.h"
#include "nn/variable_store.h"
#include "weir/layers.h"

namespace weir::layers {
namespace {

std::string list_text(const Shape& shape) {
  std::string text = "[";
  for (int d = 0; d < shape.rank(); ++d) {
    text += (d ? ", " : "") + (shape[d] == kUnknown ? std::string("None") : std::to_string(shape[d]));
  }
  return text + "]";
}

void add_once(Graph& graph, std::string_view collection, const Operation& operation) {
  for (const std::any& item : graph.collection(collection)) {
    const auto* known = std::any_cast<Operation>(&item);
    if (known && *known == operation) return;
  }
  graph.add_to_collection(collection, operation);
}

}  // namespace

struct Layer::Entered::State {
  State(Layer& layer, Graph& graph, In::Where where)
      : line(graph, source_line(where)),
        variables(variable_scope(graph, *layer.scope_,
                                 {.reuse = layer.built_ ? std::optional<Reuse>(true) : layer.options_.reuse,
                                  .auxiliary_name_scope = false})),
        names(graph.name_scope(variables.original_name_scope())) {}
  LineScope line;
  VariableScope variables;
  Scope names;
};

Layer::Entered::Entered(Layer& layer, std::span<const Output> inputs, In::Where where) : layer_(layer) {
  if (inputs.empty() || !inputs[0]) throw invalid_argument("layer {} was called without an input", layer.name_);
  layer.set_scope(inputs[0].graph());
  state_ = std::make_unique<State>(layer, inputs[0].graph(), where);
  layer.check_input(inputs[0]);
  if (layer.built_) return;
  if (!layer.options_.dtype) layer.options_.dtype = inputs[0].dtype();
  layer.build(inputs[0].shape());
  layer.built_ = true;
}

Layer::Entered::~Entered() = default;

void Layer::Entered::finish() {
  if (!layer_.trainable()) return;
  for (const Operation& update : layer_.updates_) add_once(*layer_.graph_, "update_ops", update);
}

Layer::Layer(std::string kind, const LayerOptions& options)
    : kind_(std::move(kind)), name_(options.name.empty() ? kind_ : options.name), options_(options) {}

Layer::~Layer() = default;

Output Layer::operator()(const Output& inputs, In::Where where) {
  return within({&inputs, 1}, where, [&] { return call(inputs); });
}

void Layer::set_scope(Graph& graph) {
  if (graph_ && graph_ != &graph) throw invalid_argument("layer {} belongs to another graph", name_);
  graph_ = &graph;
  if (scope_) return;
  const bool shares = options_.reuse && options_.reuse->mode != Reuse::Mode::Make;
  VariableScope entered =
      options_.scope.empty() ? graph.variable_scope(name_, {.unique = !shares}) : graph.variable_scope(options_.scope);
  scope_ = std::make_shared<VariableScope>(entered.handle());
}

void Layer::check_input(const Output& input) const {
  const InputSpec& spec = input_spec_;
  const Shape& shape = input.shape();
  const std::string refused = fmt::format("Input 0 of layer {} is incompatible with the layer: ", name_);
  if (!shape.has_rank()) {
    if (!spec.ndim && !spec.min_ndim && !spec.max_ndim) return;
    throw invalid_argument("{}its rank is undefined, but the layer requires a defined rank.", refused);
  }
  const int ndim = shape.rank();
  if (spec.ndim && ndim != *spec.ndim) {
    throw invalid_argument("{}expected ndim={}, found ndim={}. Full shape received: {}", refused, *spec.ndim, ndim,
                           list_text(shape));
  }
  if (spec.max_ndim && ndim > *spec.max_ndim) {
    throw invalid_argument("{}expected max_ndim={}, found ndim={}", refused, *spec.max_ndim, ndim);
  }
  if (spec.min_ndim && ndim < *spec.min_ndim) {
    throw invalid_argument("{}: expected min_ndim={}, found ndim={}. Full shape received: {}", refused, *spec.min_ndim,
                           ndim, list_text(shape));
  }
  if (spec.dtype && input.dtype() != *spec.dtype) {
    throw invalid_argument("{}expected dtype={}, found dtype={}", refused, dtype_name(*spec.dtype),
                           dtype_name(input.dtype()));
  }
  for (const auto& [axis, size] : spec.axes) {
    if (shape[axis] == kUnknown || shape[axis] == size) continue;
    throw invalid_argument("{}expected axis {} of input shape to have value {} but received input with shape {}",
                           refused, axis, size, list_text(shape));
  }
}

const std::string& Layer::scope_name() const {
  if (!scope_) {
    throw error(Code::FailedPrecondition,
                "No name available for layer scope because the layer \"{}\" has not been used yet.", name_);
  }
  return scope_->name();
}

std::vector<Variable> Layer::trainable_weights() const { return trainable() ? trained_ : std::vector<Variable>(); }

std::vector<Variable> Layer::non_trainable_weights() const {
  if (trainable()) return kept_;
  std::vector<Variable> all = trained_;
  all.insert(all.end(), kept_.begin(), kept_.end());
  return all;
}

std::vector<Variable> Layer::weights() const {
  std::vector<Variable> all = trained_;
  all.insert(all.end(), kept_.begin(), kept_.end());
  return all;
}

int64_t Layer::count_params() const {
  if (!built_) {
    throw error(Code::FailedPrecondition,
                "You tried to call `count_params` on {}, but the layer isn't built: call it first.", name_);
  }
  int64_t count = 0;
  for (const Variable& variable : weights()) count += variable.shape().elements();
  return count;
}

Variable Layer::add_weight(std::string_view name, const Shape& shape, const WeightOptions& options) {
  const size_t before = graph_->global_variables().size();
  const bool trained = options.trainable && trainable();
  Variable variable = graph_->get_variable(name, shape,
                                           {.initializer = options.initializer,
                                            .constraint = options.constraint,
                                            .dtype = options.dtype.value_or(dtype()),
                                            .trainable = trained});
  if (options.regularizer && graph_->global_variables().size() > before) {
    Scope scope = graph_->name_scope(std::string(name) + "/Regularizer");
    if (Output loss = options.regularizer(variable.value())) add_loss(loss);
  }
  (options.trainable ? trained_ : kept_).push_back(variable);
  return variable;
}

void Layer::add_loss(const Output& loss) {
  losses_.push_back(loss);
  graph_->add_to_collection("regularization_losses", loss);
}

void Layer::add_update(const Operation& update) { updates_.push_back(update); }

}  // namespace weir::layers
