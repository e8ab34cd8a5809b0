#include "graph/function_def.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "base/errors.h"
#include "graph/attr_proto.h"
#include "graph/bodies.h"

namespace weir {
namespace {

// "while/Add:1" as the name of an argument.
std::string argument_name(const Output& parameter) {
  std::string name = parameter.node()->name;
  if (parameter.index() > 0) name += "_" + std::to_string(parameter.index());
  for (char& c : name) {
    c = std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '_';
  }
  return std::isalpha(static_cast<unsigned char>(name[0])) ? name : "arg_" + name;
}

// "output_name:index", counted within the output of the signature.
std::string output_name(const Output& output) {
  if (is_while(*output.node()->op)) return "output:" + std::to_string(written_port(output));
  std::vector<FlatArg> flat = flatten_args(output.node()->op->outputs, output.node()->attrs);
  auto index = static_cast<size_t>(output.index()), first = index;
  while (first > 0 && flat[first - 1].spec == flat[index].spec) --first;
  return flat[index].spec->name + ":" + std::to_string(index - first);
}

// The nodes of a body that its results and effects need.
std::unordered_set<const Node*> needed_nodes(const Body& body) {
  std::unordered_set<const Node*> needed;
  std::vector<const Node*> pending;
  auto need = [&](const Node* node) {
    if (node->body == &body && needed.insert(node).second) pending.push_back(node);
  };
  for (const Output& result : body.results) {
    if (result) need(result.node());
  }
  for (const Operation& target : body.targets) need(target.node());
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    for (const Output& input : node->inputs) need(input.node());
    for (const Node* control : node->control_inputs) need(control);
  }
  return needed;
}

// Nodes stand beside nodes of the same function, or of none.
template <class Contains>
void keep_colocation(proto::NodeDef& def, const Graph& graph, const Contains& contains) {
  auto colocation = def.mutable_attr()->find("_class");
  if (colocation == def.mutable_attr()->end()) return;
  auto& names = *colocation->second.mutable_list()->mutable_s();
  auto is_elsewhere = [&](const std::string& entry) {
    if (!entry.starts_with("loc:@")) return false;
    Operation other = graph.find(entry.substr(5));
    return !other || !contains(other.node());
  };
  names.erase(std::remove_if(names.begin(), names.end(), is_elsewhere), names.end());
  if (names.empty()) def.mutable_attr()->erase(colocation);
}

// Keeps the entries of a list attribute that `keep` says.
template <class List, class Keep>
void keep_entries(List& list, const Keep& keep) {
  int to = 0;
  for (int i = 0; i < list.size(); ++i) {
    if (keep(static_cast<size_t>(i))) list.SwapElements(to++, i);
  }
  while (list.size() > to) list.RemoveLast();
}

}  // namespace

bool is_passed(const Node& node, size_t input) {
  const size_t first = is_if(*node.op) ? 1 : 0;
  if ((!is_if(*node.op) && !is_while(*node.op)) || input < first) return true;
  return !bodies_of(node).first->parameters[input - first].is_ref();
}

bool is_written(const Output& output) {
  return !is_while(*output.node()->op) || is_passed(*output.node(), static_cast<size_t>(output.index()));
}

int written_port(const Output& output) {
  int port = 0;
  for (int i = 0; i < output.index(); ++i) port += is_written(Output(output.node(), i)) ? 1 : 0;
  return port;
}

// The names of one function.
class FunctionWriter::Scope {
 public:
  Scope(const Body& body, proto::FunctionDef& function) : body_(body), function_(function), nodes_(needed_nodes(body)) {
    for (const Node* node : nodes_) names_.insert(node->name);
    for (size_t i = 0; i < body.results.size(); ++i) names_.insert("output_" + std::to_string(i));
    for (const Output& parameter : body.parameters) {
      if (parameter.is_ref() && !body.is_function) continue;  // functions get the values of variables
      const std::string name = unique(argument_name(parameter));
      arguments_.emplace_back(parameter, name);
      nodes_.erase(parameter.node());
      proto::OpDef::ArgDef& arg = *function.mutable_signature()->add_input_arg();
      arg.set_name(name);
      arg.set_type(static_cast<proto::DataType>(parameter.dtype()));
      if (parameter.node()->body == &body) {
        auto& attrs = (*function.mutable_arg_attr())[static_cast<uint32_t>(arguments_.size() - 1)];
        (*attrs.mutable_attr())[kUserSpecifiedName].set_s(parameter.node()->name);
      }
    }
  }

  bool contains(const Node* node) const { return nodes_.contains(node); }

  std::string unique(std::string name) {
    const std::string base = name;
    for (int n = 1; !names_.insert(name).second; ++n) name = base + "_" + std::to_string(n);
    return name;
  }

  // What the function calls a tensor that `reader` reads.
  std::string tensor(const Output& output, const Node& reader) {
    for (const auto& [parameter, name] : arguments_) {
      if (parameter == output) return name;
    }
    if (nodes_.contains(output.node())) return output.node()->name + ":" + output_name(output);
    if (!output.is_ref() || !output.node()->inputs.empty()) {
      throw Error(Code::InvalidArgument,
                  fmt::format("'{}' is read in the body '{}', which it is not passed to", output.name(), body_.name),
                  reader.op->name, reader.name, reader.line);
    }
    return variable(*output.node()) + ":" + output_name(output);
  }

  bool has_variables() const { return !variables_.empty(); }

 private:
  // The variable's node as one of the function's.
  const std::string& variable(const Node& node) {
    auto [it, is_new] = variables_.emplace(&node, "");
    if (is_new) {
      it->second = unique(node.name);
      proto::NodeDef& def = *function_.add_node_def();
      def.set_name(it->second);
      def.set_op(node.op->name);
      def.set_device(node.device);
      for (const auto& [name, value] : node.attrs) {
        if (!name.starts_with('_')) attr_to_proto(value, (*def.mutable_attr())[name]);
      }
      std::string& shared_name = *(*def.mutable_attr())["shared_name"].mutable_s();
      if (shared_name.empty()) shared_name = node.name;
    }
    return it->second;
  }

  const Body& body_;
  proto::FunctionDef& function_;
  std::unordered_set<const Node*> nodes_;
  std::unordered_set<std::string> names_;
  std::vector<std::pair<Output, std::string>> arguments_;
  std::unordered_map<const Node*, std::string> variables_;
};

FunctionWriter::FunctionWriter(proto::FunctionDefLibrary& library) : library_(library) {
  for (const proto::FunctionDef& function : library.function()) taken_.emplace(function.signature().name(), nullptr);
}

void FunctionWriter::write_node(const Node& node, proto::NodeDef& def) {
  def.set_name(node.name);
  def.set_op(node.op->name);
  def.set_device(node.device);
  for (const auto& [name, value] : node.attrs) attr_to_proto(value, (*def.mutable_attr())[name]);
  if (!node.body) keep_colocation(def, *node.graph, [](const Node* other) { return !other->body; });
  if (!is_if(*node.op) && !is_while(*node.op)) {
    write_functions(node, def);
    return;
  }
  auto& attrs = *def.mutable_attr();
  if (is_while(*node.op)) {
    const auto passed = [&](size_t i) { return is_passed(node, i); };
    keep_entries(*attrs["T"].mutable_list()->mutable_type(), passed);
    keep_entries(*attrs["output_shapes"].mutable_list()->mutable_shape(), passed);
  } else {
    keep_entries(*attrs["Tin"].mutable_list()->mutable_type(), [&](size_t i) { return is_passed(node, i + 1); });
  }
  auto [first, second] = bodies_of(node);
  for (const auto& [attr, body] : {std::pair(is_if(*node.op) ? "then_branch" : "cond", first),
                                   std::pair(is_if(*node.op) ? "else_branch" : "body", second)}) {
    if (!functions_.contains(body)) write_body(*body, &node);
    attrs[attr].mutable_func()->set_name(functions_.at(body));
  }
}

void FunctionWriter::write_functions(const Node& node, proto::NodeDef& def) {
  auto write = [&](const std::string& name, std::string& written) {
    const Body* body = find_body(*node.graph, name);
    if (!body || !body->is_function) return;
    written = write_function(*body);
  };
  for (const auto& [attr, value] : node.attrs) {
    // Attributes of other kinds may have been left out by now (keep_colocation) and must not come back empty.
    if (const auto* one = std::get_if<FunctionName>(&value)) {
      write(one->name, *(*def.mutable_attr())[attr].mutable_func()->mutable_name());
    } else if (const auto* several = std::get_if<std::vector<FunctionName>>(&value)) {
      auto& list = *(*def.mutable_attr())[attr].mutable_list();
      for (size_t i = 0; i < several->size(); ++i) {
        write((*several)[i].name, *list.mutable_func(static_cast<int>(i))->mutable_name());
      }
    }
  }
}

const std::string& FunctionWriter::write_function(const Body& function) {
  if (!functions_.contains(&function)) write_body(function, nullptr);
  return functions_.at(&function);
}

void FunctionWriter::write_body(const Body& body, const Node* owner) {
  std::string name = body.name;
  for (int n = 1; !taken_.emplace(name, &body).second; ++n) name = body.name + "_" + std::to_string(n);
  functions_.emplace(&body, name);
  // Inner functions are added while this one is written: it is moved into the library when it is done.
  proto::FunctionDef function;
  proto::OpDef& signature = *function.mutable_signature();
  signature.set_name(name);
  (*function.mutable_attr())[kFullNames].set_b(true);  // so that they are kept when it is read again
  Scope scope(body, function);
  bool stateful = false;
  for (const Node* node : body.nodes) {
    if (!scope.contains(node)) continue;
    proto::NodeDef def;
    write_node(*node, def);
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (is_passed(*node, i)) def.add_input(scope.tensor(node->inputs[i], *node));
    }
    for (const Node* control : node->control_inputs) {
      if (scope.contains(control)) def.add_input("^" + control->name);
    }
    keep_colocation(def, *node->graph, [&](const Node* other) { return scope.contains(other); });
    *function.add_node_def() = std::move(def);
    stateful |= node->op->stateful;
  }
  const bool gives_all =
      body.is_function || is_if(*owner->op) || body.results.size() != owner->output_types.size();  // not a loop's body
  for (size_t i = 0; i < body.results.size(); ++i) {
    const Output& result = body.results[i];
    if (!gives_all && !is_passed(*owner, i)) continue;
    const std::string output = "output_" + std::to_string(signature.output_arg_size());
    const DType dtype = result ? result.dtype() : owner->output_types[i];
    proto::OpDef::ArgDef& arg = *signature.add_output_arg();
    arg.set_name(output);
    arg.set_type(static_cast<proto::DataType>(dtype));
    if (result) {
      (*function.mutable_ret())[output] = scope.tensor(result, owner ? *owner : *result.node());
      continue;
    }
    proto::NodeDef& absent = *function.add_node_def();
    absent.set_name(scope.unique(owner->name + "/absent_" + std::to_string(i)));
    absent.set_op("FakeParam");
    attr_to_proto(dtype, (*absent.mutable_attr())["dtype"]);
    attr_to_proto(owner->output_shapes[i], (*absent.mutable_attr())["shape"]);
    (*function.mutable_ret())[output] = absent.name() + ":output:0";
  }
  for (const Operation& target : body.targets) {
    if (!scope.contains(target.node())) continue;
    signature.add_control_output(target.name());
    (*function.mutable_control_ret())[target.name()] = target.name();
  }
  signature.set_is_stateful(stateful || scope.has_variables());
  *library_.add_function() = std::move(function);
}

}  // namespace weir
