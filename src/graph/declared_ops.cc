#include "graph/declared_ops.h"

#include <cctype>
#include <map>
#include <memory>
#include <mutex>

#include "base/errors.h"
#include "graph/attr_proto.h"

namespace weir {
namespace {

// Between the parts of a key; no operation of a table has it in its name.
constexpr char kSeparator = '\n';

// An operation with the texts that its row points to.
struct Declaration {
  std::string name, inputs, outputs, attrs;
  OpDef def;
  Op op;

  void parse() {
    def.name = name;
    def.inputs = inputs;
    def.outputs = outputs;
    def.attrs = attrs;
    def.flags = "stateful";  // nobody knows what it does
    op = parse_op(def);
  }

  void read(const proto::OpDef& message) {
    def.name = name;
    op.def = &def;
    op.name = name;
    op.stateful = message.is_stateful();
    op.commutative = message.is_commutative();
    op.aggregate = message.is_aggregate();
    op.uninitialized_input = message.allows_uninitialized_input();
    for (const auto& attr : message.attr()) op.attrs.push_back(attr_from(attr));
    for (const auto& arg : message.input_arg()) op.inputs.push_back(arg_from(arg));
    for (const auto& arg : message.output_arg()) op.outputs.push_back(arg_from(arg));
    op.effect = op.has_ref_input() ? Effect::Writes : op.stateful ? Effect::Other : Effect::None;
  }

 private:
  static AttrSpec attr_from(const proto::OpDef::AttrDef& message) {
    AttrSpec spec = parse_attr("a:" + message.type());
    spec.name = message.name();
    if (message.has_minimum()) spec.minimum = message.minimum();
    for (int type : message.allowed_values().list().type()) spec.allowed_types.push_back(static_cast<DType>(type));
    for (const std::string& text : message.allowed_values().list().s()) spec.allowed_strings.push_back(text);
    ExpansionAllowance allowance;
    if (message.has_default_value()) spec.default_value = attr_from_proto(message.default_value(), &spec, allowance);
    return spec;
  }

  ArgSpec arg_from(const proto::OpDef::ArgDef& message) {
    const bool typed = message.type_attr().empty() && message.type_list_attr().empty();
    if (typed && dtype_name(static_cast<DType>(message.type())) == "invalid") {
      throw invalid_argument("argument '{}' of '{}' has no type", message.name(), name);
    }
    const std::pair<const std::string&, std::pair<AttrKind, bool>> wanted[] = {
        {message.type_attr(), {AttrKind::Type, false}},
        {message.number_attr(), {AttrKind::Int, false}},
        {message.type_list_attr(), {AttrKind::Type, true}}};
    for (const auto& [attr_name, kind] : wanted) {
      if (attr_name.empty()) continue;
      const AttrSpec* spec = op.attr(attr_name);
      if (!spec) {  // TensorFlow does not ask whether it is declared, only whether nodes have it
        AttrSpec implied;
        implied.name = attr_name;
        implied.kind = kind.first;
        implied.is_list = kind.second;
        op.attrs.push_back(std::move(implied));
      } else if (spec->kind != kind.first || spec->is_list != kind.second) {
        throw invalid_argument("attribute '{}' of '{}' decides about argument '{}'; it must be of kind {}", attr_name,
                               name, message.name(), attr_kind_name(kind.first, kind.second));
      }
    }
    ArgSpec spec;
    spec.name = message.name();
    if (typed) spec.type = static_cast<DType>(message.type());
    spec.type_attr = message.type_attr();
    spec.number_attr = message.number_attr();
    spec.type_list_attr = message.type_list_attr();
    spec.is_ref = message.is_ref();
    return spec;
  }
};

struct Declarations {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Declaration>, std::less<>> by_key;
};

Declarations& declarations() {
  static auto* instance = new Declarations;  // nodes may outlive everything else
  return *instance;
}

std::string args_text(const std::vector<DeclaredArg>& args, std::string_view prefix) {
  std::string text;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view type = dtype_name(args[i].type);
    text += args[i].is_ref ? fmt::format("{}_{}:Ref({});", prefix, i, type) : fmt::format("{}_{}:{};", prefix, i, type);
  }
  return text;
}

bool is_identifier(std::string_view name) {
  if (name.empty()) return false;
  for (char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return true;
}

struct KindOf {
  std::string operator()(int64_t) const { return "int"; }
  std::string operator()(float) const { return "float"; }
  std::string operator()(bool) const { return "bool"; }
  std::string operator()(const std::string&) const { return "string"; }
  std::string operator()(DType) const { return "type"; }
  std::string operator()(const Shape&) const { return "shape"; }
  std::string operator()(const Tensor&) const { return "tensor"; }
  std::string operator()(const FunctionName&) const { return "func"; }
  template <class T>
  std::string operator()(const std::vector<T>&) const {
    return "list(" + (*this)(T()) + ")";
  }
};

std::string attrs_text(const AttrMap& attrs) {
  std::string text;
  for (const auto& [name, value] : attrs) {
    if (name.starts_with('_')) continue;  // every node may have these
    if (!is_identifier(name)) throw invalid_argument("'{}' is no name of an attribute", name);
    text += fmt::format("{}:{};", name, std::visit(KindOf(), value));
  }
  return text;
}

}  // namespace

std::string declare_op(std::string_view name, const std::vector<DeclaredArg>& inputs,
                       const std::vector<DeclaredArg>& outputs, const AttrMap& attrs) {
  auto declaration = std::make_unique<Declaration>();
  declaration->name = name;
  declaration->inputs = args_text(inputs, "input");
  declaration->outputs = args_text(outputs, "output");
  declaration->attrs = attrs_text(attrs);
  std::string key = declaration->name + kSeparator + declaration->inputs + kSeparator + declaration->outputs +
                    kSeparator + declaration->attrs;
  Declarations& all = declarations();
  std::lock_guard lock(all.mutex);
  if (!all.by_key.contains(key)) {
    declaration->parse();
    all.by_key.emplace(key, std::move(declaration));
  }
  return key;
}

bool register_op(const proto::OpDef& message) {
  if (!is_identifier(message.name())) throw invalid_argument("'{}' is no name of an operation", message.name());
  if (find_op(message.name())) return false;
  auto declaration = std::make_unique<Declaration>();
  declaration->name = message.name();
  declaration->read(message);
  Declarations& all = declarations();
  std::lock_guard lock(all.mutex);
  return all.by_key.emplace(message.name(), std::move(declaration)).second;
}

const Op* find_declared_op(std::string_view key) {
  Declarations& all = declarations();
  std::lock_guard lock(all.mutex);
  auto it = all.by_key.find(key);
  return it == all.by_key.end() ? nullptr : &it->second->op;
}

}  // namespace weir
