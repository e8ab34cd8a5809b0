#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "graph/attr_proto.h"
#include "graph/bodies.h"
#include "graph/functions.h"
#include "graph/graph_def.h"
#include "graph/node.h"
#include "import/later_releases.h"
#include "import/plan.h"
#include "import/rollback.h"
#include "tensor/tensor_proto.h"

namespace weir {
namespace {

constexpr std::string_view kTensorFlowVersion = "1.15.5";  // whose operations and formats these are
// Programs up to TensorFlow 1.0 write a scalar for a placeholder whose shape is not fully known.
constexpr int kLastWithoutUnknownShapes = 21;

// Calls `visit` with the name of every function that a function's nodes name.
template <class Visit>
void for_each_callee(const proto::FunctionDef& function, const Visit& visit) {
  for (const proto::NodeDef& node : function.node_def()) {
    visit(node.op());
    for (const auto& [name, value] : node.attr()) {
      if (value.has_func()) visit(value.func().name());
      for (const proto::NameAttrList& func : value.list().func()) visit(func.name());
    }
  }
}

class Importer {
 public:
  Importer(Graph& graph, const proto::GraphDef& message, const ImportOptions& options, bool extends = false,
           ControlFlow control_flow = ControlFlow::Bodies)
      : graph_(graph),
        adapted_(without_later_operations(message)),
        message_(adapted_ ? *adapted_ : message),
        options_(options),
        extends_(extends),
        control_flow_(control_flow) {}

  ImportResult run() {
    check_versions();
    graph_.impl().check_not_finalized();
    Rollback rollback(graph_.impl());
    if (!options_.prefix.empty()) prefix_ = graph_.name_scope(options_.prefix).name();
    make_plan();
    try {
      if (control_flow_ == ControlFlow::Bodies) import_control_flow(plan_);
    } catch (const Error& e) {
      // What extends a graph may be a part of a conditional or loop.
      if (e.code() != Code::Unimplemented && !(extends_ && e.code() == Code::InvalidArgument)) throw;
      // No pattern of tf.cond and tf.while_loop: the nodes stay what they are, and are run one by one.
      plan_ = ImportPlan();
      mapped_.clear();
      make_plan();
    }
    std::vector<int> order = import_order(plan_);

    add_library();
    add_bodies();
    added_.resize(plan_.nodes.size());
    for (int index : order) add_node(index);
    close_loops();
    check_input_map();
    ImportResult result = return_elements();
    rollback.commit();
    return result;
  }

  // After run(): tensors of the file that have become other tensors.
  ImportAliases aliases() const {
    ImportAliases found;
    for (const auto& [name, index] : plan_.by_name) {
      if (!plan_.nodes[static_cast<size_t>(index)].removed && added_[static_cast<size_t>(index)]) continue;
      for (int port : {0, 1}) {
        const ImportSource source = plan_.resolve({.node = index, .port = port});
        if (!source || source.node == index || source.port == kControlPort) continue;
        if (source.mapped < 0) {
          const Operation op = added_[static_cast<size_t>(source.node)];
          if (!op || source.port >= op.outputs()) continue;
        }
        found.emplace(name + ":" + std::to_string(port), output_of(source));
      }
    }
    return found;
  }

 private:
  ImportNode& node(int index) { return plan_.nodes[static_cast<size_t>(index)]; }

  void make_plan() {
    read_input_map();
    plan_.name_is_free = [this](const std::string& name) { return !graph_.find(full_name(name)); };
    read_nodes(message_, mapped_, plan_);
    find_used_keys();
    import_functions(message_, plan_);
  }

  void check_versions() const {
    const proto::VersionDef& versions = message_.versions();
    if (versions.min_consumer() > kGraphDefProducer) {
      throw invalid_argument(
          "GraphDef min consumer version {} above current version {} for TensorFlow {}.  Please upgrade TensorFlow.",
          versions.min_consumer(), kGraphDefProducer, kTensorFlowVersion);
    }
    if (versions.producer() < 0) {
      throw invalid_argument(
          "GraphDef producer version {} below min producer 0 supported by TensorFlow {}.  Please regenerate your "
          "graph.",
          versions.producer(), kTensorFlowVersion);
    }
    for (int bad : versions.bad_consumers()) {
      if (bad == kGraphDefProducer) throw invalid_argument("the graph refuses consumers of version {}", bad);
    }
  }

  void read_input_map() {
    for (const auto& [text, output] : options_.input_map) {
      TensorName name = parse_tensor_name(text);
      if (!output || &output.graph() != &graph_) {
        throw invalid_argument("the input map's value for '{}' is no tensor of this graph", text);
      }
      std::pair key(std::string(name.node), name.port);
      if (!mapped_.emplace(key, static_cast<int>(plan_.mapped.size())).second) {
        throw invalid_argument("the input map has '{}' twice", text);
      }
      plan_.mapped.push_back(output);
    }
  }

  void find_used_keys() {
    key_is_used_.resize(plan_.mapped.size());
    auto use = [&](const ImportSource& source) {
      if (source.mapped >= 0) key_is_used_[static_cast<size_t>(source.mapped)] = true;
    };
    for (const ImportNode& reader : plan_.nodes) {
      std::for_each(reader.inputs.begin(), reader.inputs.end(), use);
      std::for_each(reader.controls.begin(), reader.controls.end(), use);
    }
  }

  // Functions that became parts of the graph are written from it; the others are kept, with all that they name.
  void add_library() {
    std::string& kept = graph_.impl().storage.function_library;
    proto::FunctionDefLibrary library;
    library.ParseFromString(kept);
    std::unordered_map<std::string, const proto::FunctionDef*> known, ours;
    for (const auto& function : library.function()) known[function.signature().name()] = &function;
    std::vector<const proto::FunctionDef*> pending;
    for (const auto& function : message_.library().function()) {
      ours[function.signature().name()] = &function;
      if (!plan_.used_functions.contains(function.signature().name())) pending.push_back(&function);
    }
    std::set<std::string> keep;
    while (!pending.empty()) {
      const proto::FunctionDef* function = pending.back();
      pending.pop_back();
      if (!keep.insert(function->signature().name()).second) continue;
      for_each_callee(*function, [&](const std::string& callee) {
        if (auto it = ours.find(callee); it != ours.end()) pending.push_back(it->second);
      });
    }
    proto::FunctionDefLibrary joined = library;
    for (const auto& function : message_.library().function()) {
      const std::string& name = function.signature().name();
      if (!keep.contains(name)) continue;
      auto it = known.find(name);
      if (it == known.end()) {
        *joined.add_function() = function;
      } else if (!google::protobuf::util::MessageDifferencer::Equals(*it->second, function)) {
        throw invalid_argument("function '{}' differs from the one that the graph has", name);
      }
    }
    for (const auto& gradient : message_.library().gradient()) {
      if (!plan_.used_functions.contains(gradient.function_name())) *joined.add_gradient() = gradient;
    }
    kept = joined.SerializeAsString();
  }

  void add_bodies() {
    bodies_.resize(plan_.bodies.size());
    for (size_t i = 0; i < bodies_.size(); ++i) body(static_cast<int>(i));
  }

  // Made when asked for the first time, after the one around it.
  Body* body(int id) {
    if (id == kTopLevel) return graph_.impl().scopes.body;
    Body*& made = bodies_[static_cast<size_t>(id)];
    if (!made) {
      const ImportBody& plan = plan_.bodies[static_cast<size_t>(id)];
      BodyScope scope(graph_, body(plan.outer));
      made = plan.is_function ? &add_function(graph_, plan.name) : &add_body(graph_, plan.name, plan.is_loop);
    }
    return made;
  }

  std::string full_name(std::string_view name) const { return prefix_ + std::string(name); }

  Output output_of(const ImportSource& source) const {
    if (source.mapped >= 0) return plan_.mapped[static_cast<size_t>(source.mapped)];
    Operation op = added_[static_cast<size_t>(source.node)];
    if (source.port >= op.outputs()) {
      throw invalid_argument("Input tensor '{}:{}' not found in graph_def: the node has {} outputs",
                             plan_.nodes[static_cast<size_t>(source.node)].name, source.port, op.outputs());
    }
    return op.output(source.port);
  }

  Operation operation_of(const ImportSource& source) const {
    return source.mapped >= 0 ? plan_.mapped[static_cast<size_t>(source.mapped)].op()
                              : added_[static_cast<size_t>(source.node)];
  }

  void add_node(int index) {
    const ImportNode& node = plan_.nodes[static_cast<size_t>(index)];
    try {
      BodyScope scope(graph_, body(node.body));
      Operation& added = added_[static_cast<size_t>(index)];
      if (node.bodies[0] < 0) {
        NodeArgs args = node_args(node);
        name_called(node, args.attrs);
        added = graph_.add(std::move(args));
      } else if (node.functional) {
        added = add_functional(node);
      } else {
        added = add_structured(node);
      }
    } catch (const Error& e) {
      throw blame(e, node);
    }
    graph_.impl().names.mark(full_name(node.name));
  }

  // The functions that a node calls under the names that they have got here.
  void name_called(const ImportNode& node, AttrMap& attrs) {
    std::map<std::string, std::vector<FunctionName>> names;
    for (const auto& [attr, id] : node.called) names[attr].push_back({fill_body(id).name, {}});
    for (auto& [attr, functions] : names) {
      const AttrValue* came = attrs.find(attr);
      if (came && std::holds_alternative<std::vector<FunctionName>>(*came)) {
        attrs.set(attr, std::move(functions));
      } else {
        attrs.set(attr, functions[0]);
      }
    }
  }

  NodeArgs node_args(const ImportNode& node) {
    const Op* op = find_op(node.def->op());
    if (!op) throw not_found("there is no operation of this type");
    NodeArgs args{.op = node.def->op(), .name = full_name(node.name), .exact_name = true, .device = node.def->device()};
    for (const ImportSource& input : node.inputs) {
      if (!leads_back(plan_, node, input)) {
        args.inputs.push_back(output_of(input));
        continue;
      }
      // What the next iteration brings comes after this node; until then another input stands in for it.
      back_edges_.push_back({static_cast<size_t>(&node - plan_.nodes.data()), args.inputs.size(), input});
      args.inputs.emplace_back();
    }
    stand_in(args.inputs);
    for (const ImportSource& control : node.controls) args.control_inputs.push_back(operation_of(control));
    for (const auto& [name, value] : node.def->attr()) read_attr(*op, node, name, value, args.attrs);
    return args;
  }

  static void stand_in(std::vector<Output>& inputs) {
    auto there =
        std::find_if(inputs.begin(), inputs.end(), [](const Output& input) { return static_cast<bool>(input); });
    for (Output& input : inputs) {
      if (input) continue;
      if (there == inputs.end()) throw invalid_argument("nothing enters the loop here");
      input = *there;
    }
  }

  void close_loops() {
    std::lock_guard lock(graph_.impl().storage.mutex);
    for (const BackEdge& edge : back_edges_) {
      Output& input = added_[edge.merge].node()->inputs[edge.input];
      const Output next = output_of(edge.from);
      if (next.dtype() != input.dtype()) {
        throw import_error(
            plan_.nodes[edge.merge], Code::InvalidArgument,
            fmt::format("'{}' is {}; {} is wanted", next.name(), dtype_name(next.dtype()), dtype_name(input.dtype())));
      }
      input = next;
    }
  }

  // The body of the graph, with the parameters and results that the plan says.
  Body& fill_body(int id) {
    const ImportBody& plan = plan_.bodies[static_cast<size_t>(id)];
    Body& body = *bodies_[static_cast<size_t>(id)];
    std::lock_guard lock(graph_.impl().storage.mutex);
    for (const ImportSource& parameter : plan.parameters) body.parameters.push_back(output_of(parameter));
    for (const ImportSource& result : plan.results) body.results.push_back(result ? output_of(result) : Output());
    for (int target : plan.targets) body.targets.push_back(added_[static_cast<size_t>(target)]);
    return body;
  }

  // An If or While of the file: its inputs, in their order, are what its bodies read.
  Operation add_functional(const ImportNode& node) {
    NodeArgs args = node_args(node);
    const bool is_loop = plan_.bodies[static_cast<size_t>(node.bodies[0])].is_loop;
    const char* names[2] = {is_loop ? "cond" : "then_branch", is_loop ? "body" : "else_branch"};
    for (int b = 0; b < 2; ++b) args.attrs.set(names[b], FunctionName{fill_body(node.bodies[b]).name, {}});
    pass_references(*bodies_[static_cast<size_t>(node.bodies[0])], *bodies_[static_cast<size_t>(node.bodies[1])], args);
    Operation op = graph_.add(std::move(args));
    for (int b = 0; b < 2; ++b) check_results(op, *bodies_[static_cast<size_t>(node.bodies[b])], is_loop && b == 0);
    return op;
  }

  // Functions name the variables that they refer to; here these are inputs, after those of the file.
  void pass_references(Body& first, Body& second, NodeArgs& args) {
    std::vector<Output> references;
    for (const Body* body : {&first, &second}) {
      for (const Node* inner : body->nodes) {
        for (const Output& input : inner->inputs) {
          if (input.is_ref() && !body->encloses(input.node()->body) &&
              std::find(references.begin(), references.end(), input) == references.end()) {
            references.push_back(input);
          }
        }
      }
    }
    if (references.empty()) return;
    auto append = [&](const char* name, auto value) {
      auto list = args.attrs.get<std::vector<decltype(value)>>(name);
      list.push_back(value);
      args.attrs.set(name, std::move(list));
    };
    std::lock_guard lock(graph_.impl().storage.mutex);
    for (const Output& reference : references) {
      args.inputs.push_back(reference);
      append(first.is_loop ? "T" : "Tin", reference.dtype());
      if (first.is_loop) {
        const AttrValue* value = args.attrs.find("output_shapes");
        const auto* shapes = value ? std::get_if<std::vector<Shape>>(value) : nullptr;
        if (shapes && !shapes->empty()) append("output_shapes", reference.shape());
        second.results.push_back(reference);
      }
      first.parameters.push_back(reference);
      second.parameters.push_back(reference);
    }
  }

  void check_results(const Operation& op, const Body& body, bool is_condition) const {
    if (is_condition) return;
    for (size_t i = 0; i < body.results.size(); ++i) {
      const Output& result = body.results[i];
      if (result && result.dtype() != op.output(static_cast<int>(i)).dtype()) {
        throw invalid_argument("result {} of the function '{}' is {}; {} is wanted", i, body.name,
                               dtype_name(result.dtype()), dtype_name(op.output(static_cast<int>(i)).dtype()));
      }
    }
  }

  // One that was found in Switch and Merge: what its bodies read from around them becomes its inputs.
  Operation add_structured(const ImportNode& node) {
    Body &first = fill_body(node.bodies[0]), &second = fill_body(node.bodies[1]);
    std::vector<Output> inputs;
    for (const ImportSource& input : node.inputs) inputs.push_back(output_of(input));
    const std::string name = full_name(node.name) + "/";
    Scope names = graph_.name_scope(name);
    if (!first.is_loop) return add_if(graph_, inputs[0], first, second, name);
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (const Output& other : {first.parameters[i], second.parameters[i], second.results[i]}) {
        if (other.dtype() == inputs[i].dtype()) continue;
        throw invalid_argument("loop variable '{}' is {} and begins as {}", other.name(), dtype_name(other.dtype()),
                               dtype_name(inputs[i].dtype()));
      }
    }
    WhileNodeOptions options{.name = name};
    if (const proto::AttrValue* value = import_attr(node, "parallel_iterations")) {
      options.parallel_iterations = value->i();
    }
    return add_while(graph_, inputs, first, second, options);
  }

  void read_attr(const Op& op, const ImportNode& node, const std::string& name, const proto::AttrValue& value,
                 AttrMap& attrs) {
    const AttrSpec* spec = op.attr(name);
    // Programs newer than TensorFlow 1.15 write attributes that came later.
    bool newer = !spec && !name.starts_with('_') && message_.versions().producer() > kGraphDefProducer;
    if (newer && (is_blank(value) || is_hint(op, name))) return;
    try {
      AttrValue read = attr_from_proto(bound_attr(value, node.function), spec, allowance_);
      if (name == "_class") {
        read = placed_colocation(std::move(read), node.function);
        if (std::get<std::vector<std::string>>(read).empty()) return;
      }
      if (op.name == "Placeholder" && message_.versions().producer() <= kLastWithoutUnknownShapes) {
        if (const Shape* shape = std::get_if<Shape>(&read); shape && shape->rank() == 0) read = Shape::unknown();
      }
      attrs.set(name, std::move(read));
    } catch (const Error& e) {
      throw Error(e.code(), "attribute '" + name + "': " + e.message(), e.fault());
    }
  }

  // Colocation with the names that nodes have now. Nobody stands beside a node that is gone.
  AttrValue placed_colocation(AttrValue value, const ImportFunction* function) const {
    auto* names = std::get_if<std::vector<std::string>>(&value);
    if (!names) throw invalid_argument("it must be a list of strings");
    std::vector<std::string> placed;
    for (const std::string& entry : *names) {
      if (!entry.starts_with("loc:@")) {
        placed.push_back(entry);
        continue;
      }
      std::string other = entry.substr(5);
      const auto& nodes = function ? function->nodes : plan_.by_name;
      auto it = nodes.find(other);
      if (it == nodes.end() && !function && extends_ && graph_.find(other)) {
        placed.push_back(entry);
        continue;
      }
      if (it == nodes.end() && !function) throw invalid_argument("'{}' does not exist during import", other);
      if (it == nodes.end() || plan_.nodes[static_cast<size_t>(it->second)].removed) continue;
      placed.push_back("loc:@" + full_name(plan_.nodes[static_cast<size_t>(it->second)].name));
    }
    return placed;
  }

  // A key that no input uses and no node of the file has is a mistake of the caller.
  void check_input_map() const {
    for (const auto& [key, index] : mapped_) {
      if (key_is_used_[static_cast<size_t>(index)]) continue;
      auto it = plan_.by_name.find(key.first);
      const Operation op = it == plan_.by_name.end() ? Operation() : added_[static_cast<size_t>(it->second)];
      if (!op || key.second >= op.outputs()) {
        throw invalid_argument("Attempted to map inputs that were not found in graph_def: [{}:{}]", key.first,
                               key.second);
      }
    }
  }

  ImportResult return_elements() {
    ImportResult result;
    for (const std::string& text : options_.return_elements) {
      TensorName name = parse_tensor_name(text);
      const bool is_tensor = text.find(':') != std::string::npos;
      auto key = mapped_.find({std::string(name.node), name.port});
      auto it = plan_.by_name.find(std::string(name.node));
      ImportSource source;
      if (is_tensor && key != mapped_.end()) {
        source = {.mapped = key->second};
      } else if (it != plan_.by_name.end() && name.port != kControlPort) {
        source = plan_.resolve({.node = it->second, .port = name.port});
      }
      if (!source || (source.node >= 0 && !added_[static_cast<size_t>(source.node)])) {
        throw invalid_argument("return_element '{0}' not found in graph_def. "
                               "(Requested return node '{1}' not found in graph def)",
                               text, name.node);
      }
      Operation op = operation_of(source);
      if (source.node >= 0 && is_tensor && source.port >= op.outputs()) {
        throw invalid_argument("return_element '{}' not found in graph_def. "
                               "(Invalid return output {} of node '{}', which has {} output(s))",
                               text, source.port, name.node, op.outputs());
      }
      result.operations.push_back(op);
      result.outputs.push_back(source.mapped < 0 && source.port >= op.outputs() ? Output() : output_of(source));
    }
    return result;
  }

  Graph& graph_;
  const std::unique_ptr<proto::GraphDef> adapted_;
  const proto::GraphDef& message_;
  const ImportOptions& options_;
  const bool extends_;  // nodes may stand beside those that the graph has
  const ControlFlow control_flow_;
  std::string prefix_;  // "" or "import/"
  ImportPlan plan_;
  MappedNames mapped_;
  std::vector<bool> key_is_used_;
  std::vector<Body*> bodies_;  // by their place in the plan
  struct BackEdge {
    size_t merge, input;
    ImportSource from;
  };
  std::vector<BackEdge> back_edges_;  // of loops that stay nodes
  std::vector<Operation> added_;      // the same for nodes
  ExpansionAllowance allowance_;
};

}  // namespace

ImportResult import_graph(Graph& graph, const proto::GraphDef& message, const ImportOptions& options,
                          ControlFlow control_flow) {
  return Importer(graph, message, options, /*extends=*/false, control_flow).run();
}

void extend_graph(Graph& graph, const proto::GraphDef& message, const ImportOptions& options, ImportAliases* aliases) {
  Importer importer(graph, message, options, /*extends=*/true);
  importer.run();
  if (aliases) *aliases = importer.aliases();
}

}  // namespace weir
