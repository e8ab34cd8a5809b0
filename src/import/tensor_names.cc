#include "import/tensor_names.h"

#include <charconv>

#include "base/errors.h"
#include "graph/op.h"

namespace weir {
namespace {

constexpr int kMaxOutputs = 1 << 20;  // of one argument

int checked_count(int64_t count) {
  if (count < 0 || count > kMaxOutputs) throw invalid_argument("a list of {} tensors", count);
  return static_cast<int>(count);
}

proto::DataType type_of(const proto::AttrValue& value, const std::string& name) {
  if (value.value_case() != proto::AttrValue::kType) throw invalid_argument("attribute '{}' is no type", name);
  return value.type();
}

// Of the operations that import_control_flow() and import_stacks() replace, which have no rows.
std::vector<std::string_view> control_flow_outputs(std::string_view op) {
  if (op.starts_with("Ref")) op.remove_prefix(3);
  if (op == "Switch") return {"output_false", "output_true"};
  if (op == "Merge") return {"output", "value_index"};
  if (op == "StackV2") return {"handle"};
  if (op == "StackPopV2") return {"elem"};
  for (std::string_view other : {"Enter", "Exit", "NextIteration", "LoopCond", "StackPushV2"}) {
    if (op == other) return {"output"};
  }
  return {};
}

int list_length(const ImportNode& node, const Op& op, const ArgSpec& output) {
  const bool is_number = !output.number_attr.empty();
  const std::string& name = is_number ? output.number_attr : output.type_list_attr;
  if (const proto::AttrValue* value = import_attr(node, name)) {
    return checked_count(is_number ? value->i() : value->list().type_size());
  }
  const AttrSpec* spec = op.attr(name);
  if (!spec || !spec->default_value) throw invalid_argument("attribute '{}' is missing", name);
  if (is_number) return checked_count(std::get<int64_t>(*spec->default_value));
  return checked_count(static_cast<int64_t>(std::get<std::vector<DType>>(*spec->default_value).size()));
}

}  // namespace

bool is_call_op(const std::string& op) { return op == "PartitionedCall" || op == "StatefulPartitionedCall"; }

DataTypes flat_types(const ArgDefs& args, const ImportFunction& function, PortRanges& ranges) {
  DataTypes types;
  auto attr = [&](const std::string& name) -> const proto::AttrValue& {
    proto::AttrValue open;
    open.set_placeholder(name);
    return bound_attr(open, &function);
  };
  for (const proto::OpDef::ArgDef& arg : args) {
    if (arg.is_ref()) {
      throw invalid_argument("'{}' of function '{}' is a reference: functions pass values", arg.name(), function.name);
    }
    const int first = static_cast<int>(types.size());
    if (!arg.type_list_attr().empty()) {
      for (int type : attr(arg.type_list_attr()).list().type()) types.push_back(static_cast<proto::DataType>(type));
    } else {
      const int64_t count = arg.number_attr().empty() ? 1 : attr(arg.number_attr()).i();
      const auto type = arg.type_attr().empty() ? arg.type() : type_of(attr(arg.type_attr()), arg.type_attr());
      types.insert(types.end(), static_cast<size_t>(checked_count(count)), type);
    }
    if (!ranges.emplace(arg.name(), PortRange{first, static_cast<int>(types.size()) - first}).second) {
      throw invalid_argument("function '{}' has two arguments '{}'", function.name, arg.name());
    }
  }
  return types;
}

DataTypes types_of(const ImportNode& node, const std::string& attr) {
  const proto::AttrValue* value = import_attr(node, attr);
  if (!value) throw invalid_argument("attribute '{}' is missing", attr);
  DataTypes types;
  for (int type : value->list().type()) types.push_back(static_cast<proto::DataType>(type));
  return types;
}

PortRanges output_ranges(const ImportNode& node, const FunctionLibrary& library) {
  PortRanges ranges;
  try {
    const Op* op = find_op(node.def->op());
    if (!op && is_call_op(node.def->op())) {
      ranges["output"] = {0, static_cast<int>(types_of(node, "Tout").size())};
    } else if (auto names = control_flow_outputs(node.def->op()); !op && !names.empty()) {
      for (size_t i = 0; i < names.size(); ++i) ranges.emplace(names[i], PortRange{static_cast<int>(i), 1});
    } else if (!op) {
      auto callee = library.find(node.def->op());
      if (callee == library.end() && node.def->op() == "ControlTrigger") return ranges;
      if (callee == library.end()) throw not_found("there is no operation of this type");
      ImportFunction call{.name = node.def->op(), .attrs = &node.def->attr(), .caller = node.function};
      flat_types(callee->second->signature().output_arg(), call, ranges);
    } else {
      int first = 0;
      for (const ArgSpec& output : op->outputs) {
        const int count = output.is_list() ? list_length(node, *op, output) : 1;
        ranges[output.name] = {first, count};
        first += count;
      }
    }
  } catch (const Error& e) {
    throw blame(e, node);
  }
  return ranges;
}

std::vector<ImportSource> FunctionTensors::find(std::string_view text) const {
  auto unknown = [&] { return invalid_argument("'{}' is no tensor of the function '{}'", text, function.name); };
  std::string_view rest = text;
  auto take = [&] {
    std::string_view part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
  };
  const std::string_view name = take();
  const auto argument = arguments.find(name);
  PortRange range;
  int producer = -1;
  if (argument != arguments.end()) {
    range = argument->second;
  } else {
    auto it = function.nodes.find(std::string(name));
    if (it == function.nodes.end()) throw unknown();
    producer = it->second;
    const std::string_view output = take();
    if (auto known = outputs.find(producer); known != outputs.end()) {
      auto found = known->second.find(output);
      if (found == known->second.end()) throw unknown();
      range = found->second;
    }  // else a variable, whose one output is its reference
  }
  if (!rest.empty()) {
    int offset = 0;
    auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), offset);
    if (failure != std::errc() || end != rest.data() + rest.size() || offset < 0 || offset >= range.count) {
      throw unknown();
    }
    range = {range.first + offset, 1};
  }
  std::vector<ImportSource> found;
  for (int port = range.first; port < range.first + range.count; ++port) {
    found.push_back(producer < 0 ? args[static_cast<size_t>(port)] : ImportSource{.node = producer, .port = port});
  }
  return found;
}

std::vector<ImportSource> FunctionTensors::find_control(const std::string& name) const {
  if (auto it = function.nodes.find(name); it != function.nodes.end()) {
    return {{.node = it->second, .port = kControlPort}};
  }
  const auto argument = arguments.find(name);
  if (argument == arguments.end()) {
    throw invalid_argument("input '^{}' is not in the function '{}'", name, function.name);
  }
  std::vector<ImportSource> found;
  for (int i = 0; i < argument->second.count; ++i) {
    found.push_back(args[static_cast<size_t>(argument->second.first + i)]);
    if (found.back().mapped < 0) found.back().port = kControlPort;
  }
  return found;
}

}  // namespace weir
