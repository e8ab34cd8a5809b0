#include <algorithm>
#include <set>

#include "base/errors.h"
#include "graph/function_def.h"
#include "graph/op.h"
#include "import/plan.h"
#include "import/tensor_names.h"

namespace weir {
namespace {

constexpr int kMaxDepth = 64;          // of functions within functions
constexpr size_t kMaxNodes = 1 << 18;  // that functions may add: a few lines of calls could ask for billions

using NodeAttrs = google::protobuf::Map<std::string, proto::AttrValue>;

bool is_if_op(const std::string& op) { return op == "If" || op == "StatelessIf"; }
bool is_while_op(const std::string& op) { return op == "While" || op == "StatelessWhile"; }
bool is_variable_op(const std::string& op) { return op == "VariableV2" || op == "Variable"; }

// Weir writes functions whose nodes have the names that they had in the graph.
bool has_full_names(const proto::FunctionDef& function) {
  auto it = function.attr().find(kFullNames);
  return it != function.attr().end() && it->second.b();
}

class Expander {
 public:
  Expander(const proto::GraphDef& message, ImportPlan& plan) : plan_(plan) {
    for (const proto::FunctionDef& function : message.library().function()) {
      const std::string& name = function.signature().name();
      if (!library_.emplace(name, &function).second) throw invalid_argument("two functions are called '{}'", name);
    }
    for (const proto::GradientDef& gradient : message.library().gradient()) {
      gradients_.emplace(gradient.function_name(), gradient.gradient_func());
    }
  }

  void run() {
    own_nodes_ = plan_.nodes.size();
    for (size_t i = 0; i < own_nodes_; ++i) {
      const ImportNode& node = plan_.nodes[i];
      if (is_variable_op(node.def->op())) variables_.emplace(resource_name(node, node.name), static_cast<int>(i));
    }
    for (size_t i = 0; i < own_nodes_; ++i) expand(static_cast<int>(i));
  }

 private:
  struct Instance {
    std::vector<ImportSource> results;
    std::vector<int> targets;
    DataTypes types;  // of the results
  };

  ImportNode& node(int index) { return plan_.nodes[static_cast<size_t>(index)]; }

  const proto::FunctionDef* find(const std::string& name) const {
    auto it = library_.find(name);
    return it == library_.end() ? nullptr : it->second;
  }

  // What the node does through functions, if anything.
  void expand(int index) {
    const std::string& op = node(index).def->op();
    try {
      if (is_if_op(op)) {
        expand_if(index);
      } else if (is_while_op(op)) {
        expand_while(index);
      } else if (is_call_op(op)) {
        const proto::NameAttrList& callee = function_attr(index, "f");
        const DataTypes in = types_of(node(index), "Tin"), out = types_of(node(index), "Tout");
        inline_call(index, callee.name(), callee.attr(), &in, &out);
      } else if (const std::string* gradient = own_gradient(index)) {
        const DataTypes in = types_of(node(index), "Tin"), out = types_of(node(index), "Tout");
        inline_call(index, *gradient, function_attr(index, "f").attr(), &in, &out);
      } else if (const Op* known = find_op(op)) {
        expand_called(index, *known);
      } else if (find(op)) {
        inline_call(index, op, node(index).def->attr(), nullptr, nullptr);
      }
    } catch (const Error& e) {
      throw blame(e, node(index));
    }
  }

  // The function that the library gives as the gradient of the one whose gradient the node is; null: there is none.
  const std::string* own_gradient(int index) {
    if (node(index).def->op() != "SymbolicGradient") return nullptr;
    auto it = gradients_.find(function_attr(index, "f").name());
    return it == gradients_.end() ? nullptr : &it->second;
  }

  const proto::NameAttrList& function_attr(int index, const std::string& name) {
    const proto::AttrValue* value = import_attr(node(index), name);
    if (!value || !value->has_func()) throw invalid_argument("attribute '{}' names no function", name);
    return value->func();
  }

  // One use of a function. Checks its arguments; null types: they are not declared.
  const proto::FunctionDef& open(int index, const std::string& name, const NodeAttrs& attrs, const DataTypes* declared,
                                 ImportFunction*& function, PortRanges& arguments) {
    const proto::FunctionDef* def = find(name);
    if (!def) throw invalid_argument("the function '{}' is not in the library", name);
    if (std::find(active_.begin(), active_.end(), name) != active_.end()) {
      throw invalid_argument("the function '{}' calls itself", name);
    }
    if (active_.size() >= kMaxDepth) throw invalid_argument("functions call each other {} deep", kMaxDepth);
    plan_.used_functions.insert(name);
    function = &plan_.functions.emplace_back();
    function->name = name;
    function->attrs = &attrs;
    function->caller = node(index).function;
    DataTypes types = flat_types(def->signature().input_arg(), *function, arguments);
    if (declared && types != *declared) {
      throw invalid_argument("the function '{}' takes {} arguments of other number or types than the {} given", name,
                             types.size(), declared->size());
    }
    return *def;
  }

  // Adds the nodes of a function, whose arguments are `args`, to `body`, with names below `scope`.
  Instance instantiate(int caller, const std::string& name, const NodeAttrs& attrs, const DataTypes* declared,
                       const std::vector<ImportSource>& args, int body, const std::string& scope) {
    ImportFunction* function = nullptr;
    PortRanges arguments;
    const proto::FunctionDef& def = open(caller, name, attrs, declared, function, arguments);
    FunctionTensors tensors{.function = *function, .args = args, .arguments = std::move(arguments)};
    size_t wanted = 0;
    for (const auto& [argument, range] : tensors.arguments) wanted += static_cast<size_t>(range.count);
    if (wanted != args.size()) {
      throw invalid_argument("the function '{}' takes {} arguments; {} are given", name, wanted, args.size());
    }
    active_.push_back(name);
    if (plan_.nodes.size() + static_cast<size_t>(def.node_def_size()) > own_nodes_ + kMaxNodes) {
      throw invalid_argument("the functions of the graph, where they are used, have more than {} nodes", kMaxNodes);
    }
    const size_t first = plan_.nodes.size();
    std::vector<int> added;
    for (const proto::NodeDef& inner : def.node_def()) {
      const int index = add_node(inner, *function, body, has_full_names(def) ? "" : scope, scope);
      if (!function->nodes.emplace(inner.name(), index).second || tensors.arguments.contains(inner.name())) {
        throw invalid_argument("the function '{}' has two nodes '{}'", name, inner.name());
      }
      if (index < static_cast<int>(own_nodes_) || node(index).function != function)
        continue;  // a variable known before
      added.push_back(index);
      tensors.outputs[index] = output_ranges(node(index), library_);
    }
    for (int index : added) {
      try {
        connect(index, tensors);
      } catch (const Error& e) {
        throw blame(e, node(index));
      }
    }
    for (int index : added) expand(index);

    Instance instance;
    PortRanges results;
    instance.types = flat_types(def.signature().output_arg(), *function, results);
    for (const proto::OpDef::ArgDef& result : def.signature().output_arg()) {
      auto it = def.ret().find(result.name());
      if (it == def.ret().end()) throw invalid_argument("the function '{}' does not give '{}'", name, result.name());
      std::vector<ImportSource> found = tensors.find(it->second);
      if (static_cast<int>(found.size()) != results.at(result.name()).count) {
        throw invalid_argument("the function '{}' gives {} tensors as '{}'", name, found.size(), result.name());
      }
      instance.results.insert(instance.results.end(), found.begin(), found.end());
    }
    instance.targets = effects(def, *function, body, first, instance.results);
    active_.pop_back();
    return instance;
  }

  // The name below the first scope, or when that is taken below the second.
  std::string node_name(const std::string& name, const std::string& scope, const std::string& other_scope) {
    const bool is_free = !plan_.names.contains(scope + name) && plan_.name_is_free(scope + name);
    return (is_free ? scope : other_scope) + name;
  }

  int add_node(const proto::NodeDef& def, const ImportFunction& function, int body, const std::string& scope,
               const std::string& other_scope) {
    ImportNode made;
    made.def = &def;
    made.body = body;
    made.function = &function;
    // A variable is its session's, not a call's: one node, outside, for all that name it.
    if (is_variable_op(def.op())) {
      std::string resource = resource_name(made, def.name());
      if (auto it = variables_.find(resource); it != variables_.end()) return it->second;
      variables_.emplace(resource, static_cast<int>(plan_.nodes.size()));
      proto::NodeDef& shared = plan_.made.emplace_back(def);
      auto& shared_name = *(*shared.mutable_attr())["shared_name"].mutable_s();
      if (shared_name.empty()) shared_name = def.name();
      made.def = &shared;
      made.body = kTopLevel;
    }
    made.name = plan_.unique_name(node_name(def.name(), scope, other_scope));
    plan_.nodes.push_back(std::move(made));
    return static_cast<int>(plan_.nodes.size()) - 1;
  }

  static std::string resource_name(const ImportNode& variable, const std::string& name) {
    const proto::AttrValue* container = import_attr(variable, "container");
    const proto::AttrValue* shared = import_attr(variable, "shared_name");
    return (container ? container->s() : "") + "/" + (shared && !shared->s().empty() ? shared->s() : name);
  }

  void connect(int index, const FunctionTensors& tensors) {
    for (const std::string& text : node(index).def->input()) {
      if (text.starts_with('^')) {
        for (const ImportSource& source : tensors.find_control(text.substr(1))) node(index).controls.push_back(source);
        continue;
      }
      if (!node(index).controls.empty()) throw invalid_argument("input '{}' follows a control input", text);
      for (const ImportSource& source : tensors.find(text)) node(index).inputs.push_back(source);
    }
  }

  // The nodes that run with a function though no result needs them. Functions of before 2019 do not list them: there
  // every operation with effects runs.
  std::vector<int> effects(const proto::FunctionDef& def, const ImportFunction& function, int body, size_t first,
                           const std::vector<ImportSource>& results) {
    std::set<int> targets;
    for (const auto& [name, inner] : def.control_ret()) {
      auto it = function.nodes.find(inner);
      if (it == function.nodes.end()) {
        throw invalid_argument("'{}' is no node of the function '{}'", inner, function.name);
      }
      targets.insert(it->second);
    }
    if (!targets.empty()) return {targets.begin(), targets.end()};
    std::vector<bool> needed(plan_.nodes.size() - first);  // of the nodes that the function added
    std::vector<int> pending;
    auto need = [&](const ImportSource& source) {
      if (source.node < static_cast<int>(first) || needed[static_cast<size_t>(source.node) - first]) return;
      needed[static_cast<size_t>(source.node) - first] = true;
      pending.push_back(source.node);
    };
    auto need_all = [&] {
      while (!pending.empty()) {
        const int at = pending.back();
        pending.pop_back();
        for (const ImportSource& input : node(at).inputs) need(input);
        for (const ImportSource& control : node(at).controls) need(control);
      }
    };
    for (const ImportSource& result : results) need(result);
    need_all();
    for (size_t i = plan_.nodes.size(); i-- > first;) {  // consumers come after producers mostly
      const ImportNode& inner = plan_.nodes[i];
      const Op* op = find_op(inner.def->op());
      if (needed[i - first] || inner.body != body || !op || !op->stateful || is_variable_op(op->name)) continue;
      targets.insert(static_cast<int>(i));
      need({.node = static_cast<int>(i)});
      need_all();
    }
    return {targets.begin(), targets.end()};
  }

  // A parameter of a body that is a tensor of those around it is known by that: no reference, and no tensor twice.
  // `is_parameter` says so of the inputs from `first` on.
  void separate_inputs(int index, size_t first, const DataTypes& types, const std::vector<bool>& is_parameter) {
    std::set<ImportSource> seen;
    for (size_t i = first; i < node(index).inputs.size() && i - first < types.size(); ++i) {
      const ImportSource input = node(index).inputs[i];
      if (!is_parameter[i - first] || (seen.insert(input).second && !is_reference(plan_, input))) continue;
      proto::NodeDef* def = nullptr;
      const int copy = plan_.add("Identity", node(index).name + "/input", node(index).body, &def);
      ImportPlan::set_type(*def, "T", types[i - first]);
      node(copy).inputs = {input};
      node(index).inputs[i] = {.node = copy};
    }
  }

  int add_import_body(int index, const std::string& name, bool is_loop) {
    plan_.bodies.push_back({.name = name, .outer = node(index).body, .owner = index, .is_loop = is_loop});
    return static_cast<int>(plan_.bodies.size()) - 1;
  }

  void expand_if(int index) {
    node(index).functional = true;
    if (node(index).inputs.empty()) throw invalid_argument("input 'cond' is missing");
    const DataTypes in = types_of(node(index), "Tin"), out = types_of(node(index), "Tout");
    separate_inputs(index, 1, in, std::vector<bool>(in.size(), true));
    const std::vector<ImportSource> args(node(index).inputs.begin() + 1, node(index).inputs.end());
    const std::pair<const char*, const char*> branches[] = {{"then_branch", "/then/"}, {"else_branch", "/else/"}};
    for (int b = 0; b < 2; ++b) {
      const auto& [attr, scope] = branches[b];
      const proto::NameAttrList& callee = function_attr(index, attr);
      const int id = add_import_body(index, callee.name(), false);
      node(index).bodies[b] = id;
      Instance instance = instantiate(index, callee.name(), callee.attr(), &in, args, id, node(index).name + scope);
      if (instance.types != out) {
        throw invalid_argument("the function '{}' gives {} results of other number or types than Tout's {}",
                               callee.name(), instance.types.size(), out.size());
      }
      finish_body(id, args, std::move(instance));
    }
  }

  void finish_body(int id, std::vector<ImportSource> parameters, Instance instance) {
    ImportBody& body = plan_.bodies[static_cast<size_t>(id)];
    body.parameters = std::move(parameters);
    body.targets = std::move(instance.targets);
    body.results = std::move(instance.results);
  }

  void expand_while(int index) {
    node(index).functional = true;
    const DataTypes types = types_of(node(index), "T");
    if (node(index).inputs.size() != types.size()) {
      throw invalid_argument("{} inputs are given, {} are wanted", node(index).inputs.size(), types.size());
    }
    const std::vector<bool> constant = unchanged_variables(function_attr(index, "body").name(), types.size());
    separate_inputs(index, 0, types, constant);
    const std::vector<ImportSource> inputs = node(index).inputs;
    const std::pair<const char*, const char*> parts[] = {{"cond", "/cond/"}, {"body", "/body/"}};
    for (int b = 0; b < 2; ++b) {
      const auto& [attr, part_scope] = parts[b];
      const proto::NameAttrList& callee = function_attr(index, attr);
      const std::string scope = node(index).name + part_scope;
      const int id = add_import_body(index, callee.name(), true);
      node(index).bodies[b] = id;
      std::vector<ImportSource> args = inputs;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!constant[i]) args[i] = {.node = add_loop_variable(index, callee.name(), i, types[i], id, scope)};
      }
      Instance instance = instantiate(index, callee.name(), callee.attr(), &types, args, id, scope);
      if (b == 0 ? instance.results.size() != 1 : instance.types != types) {
        throw invalid_argument("the function '{}' gives {} results of other number or types than are wanted",
                               callee.name(), instance.types.size());
      }
      finish_body(id, args, std::move(instance));
    }
  }

  // The inputs that a node passes to a function with every call, after what it calls it with. Each is a tensor of its
  // own and no reference.
  std::vector<ImportSource> captured(int index, const Op& op, const std::string& attr) {
    size_t begin = 0;
    for (const ArgSpec& arg : op.inputs) {
      size_t count = 1;
      if (!arg.type_list_attr.empty()) {
        count = types_of(node(index), arg.type_list_attr).size();
      } else if (!arg.number_attr.empty()) {
        const proto::AttrValue* number = import_attr(node(index), arg.number_attr);
        count = number && number->i() > 0 ? static_cast<size_t>(number->i()) : 0;
      }
      if (begin + count > node(index).inputs.size()) throw invalid_argument("input '{}' is missing", arg.name);
      const bool is_only =
          arg.name == "other_arguments" || arg.name == "captured_inputs" || arg.name == "captured_tensors";
      if (is_only || arg.name == attr + "_other_arguments" || arg.name == attr + "_other_args") {
        const DataTypes types = types_of(node(index), arg.type_list_attr);
        separate_inputs(index, begin, types, std::vector<bool>(types.size(), true));
        auto first = node(index).inputs.begin() + static_cast<std::ptrdiff_t>(begin);
        return {first, first + static_cast<std::ptrdiff_t>(count)};
      }
      begin += count;
    }
    return {};
  }

  // Functions that an operation calls while it runs: each becomes a body with a placeholder for each argument that the
  // node does not pass itself.
  void expand_called(int index, const Op& op) {
    for (const AttrSpec& spec : op.attrs) {
      if (spec.kind != AttrKind::Func) continue;
      if (!spec.is_list) {
        expand_callee(index, op, spec.name, function_attr(index, spec.name));
        continue;
      }
      const proto::AttrValue* several = import_attr(node(index), spec.name);
      if (!several) throw invalid_argument("attribute '{}' names no functions", spec.name);
      for (const proto::NameAttrList& callee : several->list().func()) expand_callee(index, op, spec.name, callee);
    }
  }

  void expand_callee(int index, const Op& op, const std::string& attr, const proto::NameAttrList& callee) {
    const proto::FunctionDef* def = find(callee.name());
    if (!def) throw invalid_argument("the function '{}' is not in the library", callee.name());
    std::vector<ImportSource> passed = captured(index, op, attr);
    ImportFunction types_here{.name = callee.name(), .attrs = &callee.attr(), .caller = node(index).function};
    PortRanges ranges;
    const DataTypes types = flat_types(def->signature().input_arg(), types_here, ranges);
    if (passed.size() > types.size()) {
      throw invalid_argument("the function '{}' takes {} arguments; {} are given", callee.name(), types.size(),
                             passed.size());
    }
    const int id = add_import_body(index, callee.name(), true);
    plan_.bodies[static_cast<size_t>(id)].is_function = true;
    const std::string scope = node(index).name + "/" + attr + "/";
    std::vector<ImportSource> args;
    for (size_t i = 0; i < types.size() - passed.size(); ++i) {
      args.push_back({.node = add_argument(*def, i, types[i], id, scope)});
    }
    args.insert(args.end(), passed.begin(), passed.end());
    Instance instance = instantiate(index, callee.name(), callee.attr(), &types, args, id, scope);
    finish_body(id, std::move(args), std::move(instance));
    node(index).called.emplace_back(attr, id);
  }

  int add_argument(const proto::FunctionDef& def, size_t i, proto::DataType type, int body, const std::string& scope) {
    std::string name = "arg" + std::to_string(i);
    if (static_cast<int>(i) < def.signature().input_arg_size()) {
      name = def.signature().input_arg(static_cast<int>(i)).name();
    }
    proto::NodeDef* made = nullptr;
    const int placeholder = plan_.add("Placeholder", scope + name, body, &made);
    ImportPlan::set_type(*made, "dtype", type);
    (*made->mutable_attr())["shape"].mutable_shape()->set_unknown_rank(true);
    return placeholder;
  }

  // Which loop variables the body gives back as they came: the loop reads them from around it.
  std::vector<bool> unchanged_variables(const std::string& name, size_t count) const {
    std::vector<bool> unchanged(count);
    const proto::FunctionDef* def = find(name);
    if (!def) return unchanged;
    const proto::OpDef& signature = def->signature();
    if (signature.input_arg_size() != static_cast<int>(count) ||
        signature.output_arg_size() != signature.input_arg_size()) {
      return unchanged;
    }
    for (int i = 0; i < signature.input_arg_size(); ++i) {
      auto it = def->ret().find(signature.output_arg(i).name());
      const std::string& argument = signature.input_arg(i).name();
      unchanged[static_cast<size_t>(i)] =
          it != def->ret().end() && (it->second == argument || it->second == argument + ":0");
    }
    return unchanged;
  }

  int add_loop_variable(int index, const std::string& function, size_t i, proto::DataType type, int body,
                        const std::string& scope) {
    const proto::FunctionDef* def = find(function);
    std::string name = "variable", own_scope = scope;
    if (def && static_cast<int>(i) < def->signature().input_arg_size()) {
      name = def->signature().input_arg(static_cast<int>(i)).name();
      if (auto attrs = def->arg_attr().find(static_cast<uint32_t>(i));
          attrs != def->arg_attr().end() && has_full_names(*def)) {
        if (auto full = attrs->second.attr().find(kUserSpecifiedName); full != attrs->second.attr().end()) {
          name = full->second.s();
          own_scope = "";
        }
      }
    }
    proto::NodeDef* made = nullptr;
    const int placeholder = plan_.add("Placeholder", node_name(name, own_scope, scope), body, &made);
    ImportPlan::set_type(*made, "dtype", type);
    const proto::AttrValue* shapes = import_attr(node(index), "output_shapes");
    proto::TensorShapeProto& shape = *(*made->mutable_attr())["shape"].mutable_shape();
    if (shapes && static_cast<int>(i) < shapes->list().shape_size()) {
      shape = shapes->list().shape(static_cast<int>(i));
    } else {
      shape.set_unknown_rank(true);
    }
    return placeholder;
  }

  // Replaces a call by the nodes of its function and one of its own name that gives the results.
  void inline_call(int index, const std::string& name, const NodeAttrs& attrs, const DataTypes* in,
                   const DataTypes* out) {
    const size_t first = plan_.nodes.size();
    const std::vector<ImportSource> args = node(index).inputs, controls = node(index).controls;
    Instance instance = instantiate(index, name, attrs, in, args, node(index).body, node(index).name + "/");
    if (out && instance.types != *out) {
      throw invalid_argument("the function '{}' gives {} results of other number or types than Tout's {}", name,
                             instance.types.size(), out->size());
    }
    // What the call waits for, its nodes wait for.
    const auto inside = [&](const ImportSource& source) { return source.node >= static_cast<int>(first); };
    for (size_t i = first; !controls.empty() && i < plan_.nodes.size(); ++i) {
      ImportNode& inner = plan_.nodes[i];
      if (inner.body != node(index).body || is_variable_op(inner.def->op()) ||
          std::any_of(inner.inputs.begin(), inner.inputs.end(), inside) ||
          std::any_of(inner.controls.begin(), inner.controls.end(), inside)) {
        continue;
      }
      inner.controls.insert(inner.controls.end(), controls.begin(), controls.end());
    }
    proto::NodeDef& def = plan_.made.emplace_back();
    def.set_device(node(index).def->device());
    if (instance.types.empty()) {
      def.set_op("NoOp");
    } else if (instance.types.size() == 1) {
      def.set_op("Identity");
      ImportPlan::set_type(def, "T", instance.types[0]);
    } else {
      def.set_op("IdentityN");
      auto& types = *(*def.mutable_attr())["T"].mutable_list();
      for (proto::DataType type : instance.types) types.add_type(type);
    }
    node(index).def = &def;
    node(index).inputs = instance.results;
    for (int target : instance.targets) node(index).controls.push_back({.node = target, .port = kControlPort});
  }

  ImportPlan& plan_;
  FunctionLibrary library_;
  std::unordered_map<std::string, std::string> gradients_;  // functions that are gradients of others
  std::unordered_map<std::string, int> variables_;          // nodes by the name of what they refer to
  std::vector<std::string> active_;                         // functions that are being used, outermost first
  size_t own_nodes_ = 0;
};

}  // namespace

void import_functions(const proto::GraphDef& message, ImportPlan& plan) { Expander(message, plan).run(); }

}  // namespace weir
