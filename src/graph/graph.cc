#include "weir/graph.h"

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "graph/bodies.h"
#include "graph/graph_impl.h"
#include "graph/infer_context.h"
#include "graph/node.h"
#include "graph/run_check.h"
#include "tensor/elements.h"

namespace weir {
namespace {

// The length of every input of the signature, from the attributes, or for a single list from what remains.
std::vector<size_t> argument_lengths(const Op& op, const AttrMap& attrs, size_t inputs) {
  std::vector<size_t> lengths;
  size_t known = 0;
  int open = -1;
  for (const ArgSpec& arg : op.inputs) {
    size_t length = 1;
    if (!arg.number_attr.empty() && attrs.has(arg.number_attr)) {
      int64_t n = attrs.get<int64_t>(arg.number_attr);
      if (n < 0) throw invalid_argument("attribute '{}' is {}", arg.number_attr, n);
      length = static_cast<size_t>(n);
    } else if (!arg.type_list_attr.empty() && attrs.has(arg.type_list_attr)) {
      length = attrs.get<std::vector<DType>>(arg.type_list_attr).size();
    } else if (arg.is_list()) {
      if (open >= 0)
        throw invalid_argument("the lengths of inputs '{}' and '{}' are not given",
                               op.inputs[static_cast<size_t>(open)].name, arg.name);
      open = static_cast<int>(lengths.size());
      length = 0;
    }
    lengths.push_back(length);
    known += length;
  }
  if (open >= 0 && known <= inputs) lengths[static_cast<size_t>(open)] = inputs - known;
  return lengths;
}

// Attributes that follow from the inputs: T, N, lists of types.
void bind_attrs(const Op& op, AttrMap& attrs, const std::vector<Output>& inputs) {
  std::vector<size_t> lengths = argument_lengths(op, attrs, inputs.size());
  size_t at = 0;
  for (size_t a = 0; a < op.inputs.size(); ++a) {
    const ArgSpec& arg = op.inputs[a];
    size_t length = lengths[a];
    if (at + length > inputs.size()) {
      throw invalid_argument("{} inputs are given; input '{}' is missing", inputs.size(), arg.name);
    }
    if (!arg.number_attr.empty() && !attrs.has(arg.number_attr)) {
      attrs.set(arg.number_attr, static_cast<int64_t>(length));
    }
    if (!arg.type_attr.empty() && !attrs.has(arg.type_attr) && length > 0) {
      attrs.set(arg.type_attr, inputs[at].dtype());
    }
    if (!arg.type_list_attr.empty() && !attrs.has(arg.type_list_attr)) {
      std::vector<DType> types;
      for (size_t i = 0; i < length; ++i) types.push_back(inputs[at + i].dtype());
      attrs.set(arg.type_list_attr, std::move(types));
    }
    at += length;
  }
  if (at != inputs.size()) throw invalid_argument("{} inputs are given, {} are wanted", inputs.size(), at);
}

void check_attr(const AttrSpec& spec, const AttrValue& value) {
  if (!attr_matches(spec, value)) {
    throw invalid_argument("attribute '{}' must be of kind {}; it is {}", spec.name,
                           attr_kind_name(spec.kind, spec.is_list), attr_to_string(value));
  }
  auto check_type = [&](DType type) {
    const auto& allowed = spec.allowed_types;
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
      std::string list;
      for (DType t : allowed) list += (list.empty() ? "" : ", ") + std::string(dtype_name(t));
      throw wrong_type("attribute '{}' is {}; allowed are {}", spec.name, dtype_name(type), list);
    }
    if (dtype_name(type) == "invalid") {
      throw invalid_argument("attribute '{}' is no type: {}", spec.name, static_cast<int>(type));
    }
  };
  if (const auto* type = std::get_if<DType>(&value)) check_type(*type);
  if (const auto* types = std::get_if<std::vector<DType>>(&value)) {
    for (DType type : *types) check_type(type);
  }
  if (const auto* text = std::get_if<std::string>(&value); text && !spec.allowed_strings.empty()) {
    const auto& allowed = spec.allowed_strings;
    if (std::find(allowed.begin(), allowed.end(), *text) == allowed.end()) {
      std::string list;
      for (const std::string& s : allowed) list += (list.empty() ? "" : ", ") + s;
      throw invalid_argument("attribute '{}' is '{}'; allowed are {}", spec.name, *text, list);
    }
  }
  if (spec.minimum) {
    int64_t size = std::visit(
        [](const auto& v) -> int64_t {
          if constexpr (std::is_same_v<std::decay_t<decltype(v)>, int64_t>)
            return v;
          else if constexpr (requires {
                               v.begin() != v.end();
                               v.size();
                             })
            return static_cast<int64_t>(v.size());
          else
            return INT64_MAX;
        },
        value);
    if (size < *spec.minimum) {
      throw invalid_argument("attribute '{}' must be {}{}; it is {}", spec.name,
                             spec.is_list ? "a list of at least " : "at least ", *spec.minimum, attr_to_string(value));
    }
  }
}

// Fills in defaults and checks every attribute against the signature.
void complete_attrs(const Op& op, AttrMap& attrs) {
  for (const AttrSpec& spec : op.attrs) {
    const AttrValue* value = attrs.find(spec.name);
    if (!value) {
      if (!spec.default_value) throw invalid_argument("attribute '{}' is missing", spec.name);
      attrs.set(spec.name, *spec.default_value);
    } else {
      check_attr(spec, *value);
    }
  }
  for (const auto& [name, value] : attrs) {
    if (!op.attr(name) && !name.starts_with('_')) throw invalid_argument("there is no attribute '{}'", name);
  }
}

void check_inputs(const Op& op, const AttrMap& attrs, const std::vector<Output>& inputs) {
  std::vector<FlatArg> wanted = flatten_args(op.inputs, attrs);
  if (wanted.size() != inputs.size()) {
    throw invalid_argument("{} inputs are given, {} are wanted", inputs.size(), wanted.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (wanted[i].type != inputs[i].dtype()) {
      throw wrong_type("input '{}' must be {}; '{}' is {}", wanted[i].spec->name, dtype_name(wanted[i].type),
                       inputs[i].name(), dtype_name(inputs[i].dtype()));
    }
    if (wanted[i].spec->is_ref && !inputs[i].is_ref()) {
      throw invalid_argument("input '{}' must be a reference to a variable; '{}' is a value", wanted[i].spec->name,
                             inputs[i].name());
    }
  }
}

// The values of a node's inputs as far as the graph itself tells them.
class GraphValues final : public InferContext::Values {
 public:
  explicit GraphValues(const Node& node) : node_(node) {}
  Tensor value(int input) override { return constant_value(node_.inputs[static_cast<size_t>(input)]); }
  Shape value_as_shape(int input) override { return constant_value_as_shape(node_.inputs[static_cast<size_t>(input)]); }
  Shape handle_shape(int input) override {
    const Node* handle = node_.inputs[static_cast<size_t>(input)].node();
    while (handle->op->role == Role::Identity) handle = handle->inputs[0].node();
    return handle->op->role == Role::Variable ? handle->attrs.get<Shape>("shape") : Shape::unknown();
  }

 private:
  const Node& node_;
};

// What is left of them where only the shapes are to count.
class NoValues final : public InferContext::Values {
 public:
  explicit NoValues(const Node& node) : node_(node) {}
  Tensor value(int) override { return {}; }
  Shape value_as_shape(int input) override { return shape_of_length(node_.inputs[static_cast<size_t>(input)].shape()); }
  Shape handle_shape(int input) override { return GraphValues(node_).handle_shape(input); }

 private:
  const Node& node_;
};

// TensorFlow's words.
Error finalized_error() { return error(Code::FailedPrecondition, "Graph is finalized and cannot be modified."); }

}  // namespace

std::vector<FlatArg> flatten_args(const std::vector<ArgSpec>& args, const AttrMap& attrs) {
  std::vector<FlatArg> flat;
  for (const ArgSpec& arg : args) {
    if (!arg.type_list_attr.empty()) {
      for (DType type : attrs.get<std::vector<DType>>(arg.type_list_attr)) flat.push_back({&arg, type});
      continue;
    }
    DType type = arg.type_attr.empty() ? arg.type : attrs.get<DType>(arg.type_attr);
    int64_t count = arg.number_attr.empty() ? 1 : attrs.get<int64_t>(arg.number_attr);
    if (count < 0 || count > (1 << 20)) throw invalid_argument("attribute '{}' is {}", arg.number_attr, count);
    for (int64_t i = 0; i < count; ++i) flat.push_back({&arg, type});
  }
  return flat;
}

void infer_shapes(Node& node) {
  std::vector<const Shape*> inputs;
  for (const Output& input : node.inputs) inputs.push_back(&input.shape());
  const auto infer = [&](InferContext::Values& values) {
    InferContext context(*node.op, node.attrs, inputs, node.output_types.size(), values);
    try {
      if (node.op->def->infer) node.op->def->infer(context);
    } catch (const RunCheck&) {  // the run says so
    }
    node.output_shapes = context.take_outputs();
  };
  GraphValues values(node);
  try {
    infer(values);
  } catch (const Error&) {
    // A branch may be there for other values than those that the graph knows: whether it fails is for the run to say, if
    // shapes alone allow it. TensorFlow's branches see no values from around them.
    if (!node.body) throw;
    NoValues none(node);
    try {
      infer(none);
      return;
    } catch (const Error&) {
    }
    throw;
  }
}

void Graph::Impl::check_not_finalized() const {
  if (finalized) throw finalized_error();
}

Graph::Graph() : impl_(std::make_unique<Impl>()) {}
Graph::~Graph() = default;

Operation Graph::add(NodeArgs args) {
  if (impl_->scopes.line) args.line = *impl_->scopes.line;
  const Op* op = find_op(args.op);
  if (!op) {
    throw Error(Code::NotFound, "there is no operation of this type", args.op, args.name.empty() ? args.op : args.name,
                args.line);
  }
  args.op = op->name;
  std::string name = args.name.empty() ? args.op : args.name;
  if (impl_->finalized) throw finalized_error().blaming(args.op, name, args.line);
  if (args.exact_name || name.ends_with('/')) {
    if (name.ends_with('/')) name.pop_back();
    if (!Body::function_around(impl_->scopes.body) && impl_->storage.by_name.count(name))
      throw Error(Code::InvalidArgument, "the name is taken", args.op, name, args.line);
  } else {
    name = unique_name(name);
  }
  try {
    if (auto type = impl_->gradients.overrides.find(op->name); type != impl_->gradients.overrides.end()) {
      args.attrs.set("_gradient_op_type", type->second);
    }
    bind_attrs(*op, args.attrs, args.inputs);
    complete_attrs(*op, args.attrs);
    if (op->stateful && !impl_->scopes.container.empty() && op->attr("container") &&
        args.attrs.get<std::string>("container").empty()) {
      args.attrs.set("container", impl_->scopes.container);
    }
    check_inputs(*op, args.attrs, args.inputs);

    auto node = std::make_unique<Node>();
    node->graph = this;
    node->name = name;
    node->op = op;
    node->attrs = std::move(args.attrs);
    node->inputs = std::move(args.inputs);
    for (const Output& input : node->inputs) {
      if (&input.graph() != this) throw invalid_argument("input '{}' belongs to another graph", input.name());
      check_readable(*input.node(), impl_->scopes.body, name);
    }
    for (const FlatArg& out : flatten_args(op->outputs, node->attrs)) {
      node->output_types.push_back(out.type);
      node->output_refs.push_back(out.spec->is_ref);
    }
    node->line = args.line;
    node->body = impl_->scopes.body;
    infer_shapes(*node);

    auto depend = [&](Node* other) {
      if (other->graph != this) throw invalid_argument("control input '{}' belongs to another graph", other->name);
      check_readable(*other, impl_->scopes.body, name);
      auto& control = node->control_inputs;
      if (std::find(control.begin(), control.end(), other) == control.end()) control.push_back(other);
    };
    for (const Operation& control : args.control_inputs) depend(control.node());
    for (const ControlScope& scope : impl_->scopes.control) {
      bool implied = std::any_of(node->inputs.begin(), node->inputs.end(),
                                 [&](const Output& input) { return scope.inside.count(input.node()); });
      if (implied) continue;
      for (Node* other : scope.operations) {
        bool is_input = std::any_of(node->inputs.begin(), node->inputs.end(),
                                    [&](const Output& input) { return input.node() == other; });
        if (!is_input) depend(other);
      }
    }
    for (ControlScope& scope : impl_->scopes.control) scope.inside.insert(node.get());

    if (!impl_->scopes.device_functions()) node->device = impl_->scopes.device_of(args.device);
    auto beside = std::find_if(impl_->scopes.colocate.rbegin(), impl_->scopes.colocate.rend(),
                               [](const Node* other) { return !other->device.empty(); });
    if (beside != impl_->scopes.colocate.rend()) node->device = (*beside)->device;
    if (const AttrValue* colocation = node->attrs.find("_class")) {
      if (const auto* names = std::get_if<std::vector<std::string>>(colocation)) {
        for (const std::string& entry : *names) {
          if (entry.starts_with("loc:@")) node->colocation.push_back(entry.substr(5));
        }
      }
    } else if (!impl_->scopes.colocate.empty() || !impl_->scopes.beside.empty()) {
      std::set<std::string> names;
      for (Node* other : impl_->scopes.colocate) {
        // Who stands beside a node that itself stands beside others joins their group.
        if (other->colocation.empty()) names.insert(other->name);
        names.insert(other->colocation.begin(), other->colocation.end());
      }
      if (names.empty()) names.insert(impl_->scopes.beside);
      std::vector<std::string> entries;
      for (const std::string& name_of_other : names) {
        node->colocation.push_back(name_of_other);
        entries.push_back("loc:@" + name_of_other);
      }
      node->attrs.set("_class", std::move(entries));
    }

    Node* raw = node.get();
    {
      std::lock_guard lock(impl_->storage.mutex);
      node->id = static_cast<int>(impl_->storage.nodes.size());
      if (Body* function = Body::function_around(raw->body)) {
        ++function->nodes_made;
      } else {
        impl_->storage.by_name.emplace(name, raw);
        ++impl_->storage.listed;
      }
      impl_->storage.nodes.push_back(std::move(node));
      if (raw->body) raw->body->nodes.push_back(raw);
    }
    if (impl_->scopes.device_functions() && raw->device.empty())
      impl_->scopes.ask_for_device(*raw, args.device, impl_->storage.mutex);
    return Operation(raw);
  } catch (const Error& e) {
    if (!e.node().empty()) throw;
    throw e.blaming(args.op, name, args.line);
  }
}

void Graph::finalize() { impl_->finalized = true; }
bool Graph::finalized() const { return impl_->finalized; }
void Graph::unfinalize() { impl_->finalized = false; }

Operation Graph::find(std::string_view name) const {
  std::lock_guard lock(impl_->storage.mutex);
  auto it = impl_->storage.by_name.find(std::string(name));
  return it == impl_->storage.by_name.end() ? Operation() : Operation(it->second);
}

Operation Graph::operation(std::string_view name) const {
  Operation op = find(name);
  if (!op) throw not_found("there is no operation '{}' in the graph", name);
  return op;
}

Output Graph::output(std::string_view name) const {
  size_t colon = name.find(':');
  if (colon == std::string_view::npos) {
    throw invalid_argument("'{}' names an operation; a tensor is named '{}:0'", name, name);
  }
  std::string_view number = name.substr(colon + 1);
  int index = 0;
  for (char c : number) {
    if (c < '0' || c > '9' || index > 100000) throw invalid_argument("'{}' is no tensor's name", name);
    index = index * 10 + (c - '0');
  }
  if (number.empty()) throw invalid_argument("'{}' is no tensor's name", name);
  return operation(name.substr(0, colon)).output(index);
}

std::vector<Operation> Graph::operations() const {
  std::lock_guard lock(impl_->storage.mutex);
  std::vector<Operation> all;
  for (const auto& node : impl_->storage.nodes) {
    if (!Body::function_around(node->body)) all.emplace_back(node.get());
  }
  return all;
}

int64_t Graph::version() const {
  std::lock_guard lock(impl_->storage.mutex);
  return impl_->storage.listed;
}

Scope Graph::control_dependencies(std::span<const Operation> operations) {
  ControlScope scope;
  for (const Operation& op : operations) scope.operations.push_back(op.node());
  impl_->scopes.control.push_back(std::move(scope));
  return Scope("", [this] { impl_->scopes.control.pop_back(); });
}

Scope Graph::clear_control_dependencies() {
  auto saved = std::make_shared<BodyScope>(*this, nullptr);
  return Scope("", [saved]() mutable { saved.reset(); });
}

Scope Graph::colocate_with(Operation operation) {
  impl_->scopes.colocate.push_back(operation.node());
  // Standing beside a node is stronger than the device scopes around.
  auto devices = std::make_shared<std::vector<DeviceScope>>(std::exchange(impl_->scopes.devices, {}));
  return Scope("", [this, devices] {
    impl_->scopes.colocate.pop_back();
    impl_->scopes.devices = std::move(*devices);
  });
}

Scope Graph::container(std::string_view name) {
  return Scope("", [this, outer = std::exchange(impl_->scopes.container, std::string(name))] {
    impl_->scopes.container = outer;
  });
}

void Graph::set_random_seed(int64_t seed) { impl_->scopes.seed = seed; }

Seeds Graph::next_seeds(std::optional<int64_t> op_seed) const {
  // TensorFlow's rule: a graph seed alone is joined with the number of nodes so far, an operation seed alone with a
  // fixed graph seed; (0, 0) would mean "no seed", so it becomes (0, 2^31 - 1).
  constexpr int64_t kDefaultGraphSeed = 87654321;
  const Body* function = Body::function_around(impl_->scopes.body);
  Seeds seeds;
  if (impl_->scopes.seed) {
    seeds = {*impl_->scopes.seed, op_seed ? *op_seed : function ? function->nodes_made : version()};
  } else if (op_seed) {
    seeds = {kDefaultGraphSeed, *op_seed};
  } else {
    return seeds;
  }
  constexpr int64_t kModulus = 0x7fffffff;
  auto python_modulo = [](int64_t value) { return (value % kModulus + kModulus) % kModulus; };
  seeds = {python_modulo(seeds.seed), python_modulo(seeds.seed2)};
  if (seeds.seed == 0 && seeds.seed2 == 0) seeds.seed2 = kModulus;
  return seeds;
}

void Graph::add_to_collection(std::string_view name, std::any value) {
  impl_->check_not_finalized();
  ++impl_->collection_changes;
  auto it = impl_->collections.find(name);
  if (it == impl_->collections.end()) it = impl_->collections.emplace(std::string(name), std::vector<std::any>()).first;
  it->second.push_back(std::move(value));
}

const std::vector<std::any>& Graph::collection(std::string_view name) const {
  static const std::vector<std::any> kEmpty;
  auto it = impl_->collections.find(name);
  return it == impl_->collections.end() ? kEmpty : it->second;
}

std::vector<std::string> Graph::collection_names() const {
  std::vector<std::string> names;
  for (const auto& [name, values] : impl_->collections) names.push_back(name);
  return names;
}

void Graph::clear_collection(std::string_view name) {
  impl_->check_not_finalized();
  ++impl_->collection_changes;
  if (auto it = impl_->collections.find(name); it != impl_->collections.end()) impl_->collections.erase(it);
}

LineScope::LineScope(Graph& graph, SourceLine line) : slot_(graph.impl().scopes.line), saved_(slot_) {
  // The outermost caller wins: it is the program's own line.
  if (!slot_) slot_ = std::move(line);
}

SourceLine source_line(const SourceLocation& where) { return {where.file_name(), where.line()}; }

}  // namespace weir
