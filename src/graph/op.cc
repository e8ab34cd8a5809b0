#include "graph/op.h"

#include <algorithm>
#include <charconv>

#include "base/errors.h"

namespace weir {
namespace {

constexpr std::string_view kNumberTypes =
    "float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,uint16,complex128,half,uint32,"
    "uint64";
constexpr std::string_view kRealNumberTypes =
    "float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64";

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Splits at `separator` outside quotes and brackets.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == separator && depth == 0 && !quoted)) {
      if (auto part = trim(text.substr(begin, i - begin)); !part.empty()) parts.push_back(part);
      begin = i + 1;
    } else if (text[i] == '\'') {
      quoted = !quoted;
    } else if (!quoted && (text[i] == '[' || text[i] == '{' || text[i] == '(')) {
      ++depth;
    } else if (!quoted && (text[i] == ']' || text[i] == '}' || text[i] == ')')) {
      --depth;
    }
  }
  return parts;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

DType parse_type(std::string_view name) {
  DType dtype = dtype_from_name(name);
  if (dtype == DType::Invalid) throw invalid_argument("unknown type '{}' in an operation's signature", name);
  return dtype;
}

int64_t parse_int(std::string_view text) {
  int64_t value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) throw invalid_argument("'{}' is no integer", text);
  return value;
}

std::string parse_string(std::string_view text) {
  if (text.size() < 2 || text.front() != '\'' || text.back() != '\'') throw invalid_argument("{} is no string", text);
  std::string value;
  text = text.substr(1, text.size() - 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      value += text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i];
    } else {
      value += text[i];
    }
  }
  return value;
}

// A vector of bytes, "uint8[255,0,0,255]", the only kind there is. TensorFlow's recorded signatures do not say the
// value
// ("tensor"), which parses as no tensor.
Tensor parse_tensor(std::string_view text) {
  if (text == "tensor") return {};
  if (!take_prefix(text, "uint8[") || !text.ends_with(']')) throw invalid_argument("'{}' is no tensor", text);
  text.remove_suffix(1);
  std::vector<uint8_t> bytes;
  for (std::string_view item : split(text, ',')) bytes.push_back(static_cast<uint8_t>(parse_int(item)));
  return bytes;
}

AttrValue parse_value(AttrKind kind, std::string_view text) {
  switch (kind) {
    case AttrKind::Int:
      return parse_int(text);
    case AttrKind::Float:
      return std::stof(std::string(text));
    case AttrKind::Bool:
      return text == "True";
    case AttrKind::String:
      return parse_string(text);
    case AttrKind::Type:
      return parse_type(text);
    case AttrKind::Shape:
      return text == "[]" ? Shape(std::vector<int64_t>()) : Shape::unknown();
    case AttrKind::Tensor:
      return parse_tensor(text);
    case AttrKind::Func:
      break;
  }
  throw invalid_argument("'{}' cannot be a default value", text);
}

template <class T>
AttrValue parse_list(AttrKind kind, std::string_view text) {
  std::vector<T> values;
  for (std::string_view item : split(text, ',')) values.push_back(std::get<T>(parse_value(kind, item)));
  return values;
}

AttrValue parse_default(const AttrSpec& spec, std::string_view text) {
  if (!spec.is_list) return parse_value(spec.kind, text);
  if (!take_prefix(text, "[") || text.empty()) throw invalid_argument("'{}' is no list", text);
  text.remove_suffix(1);
  switch (spec.kind) {
    case AttrKind::Int:
      return parse_list<int64_t>(spec.kind, text);
    case AttrKind::Float:
      return parse_list<float>(spec.kind, text);
    case AttrKind::Bool:
      return parse_list<bool>(spec.kind, text);
    case AttrKind::String:
      return parse_list<std::string>(spec.kind, text);
    case AttrKind::Type:
      return parse_list<DType>(spec.kind, text);
    case AttrKind::Shape:
      return parse_list<Shape>(spec.kind, text);
    default:
      throw invalid_argument("a default of kind {}", attr_kind_name(spec.kind, true));
  }
}

AttrKind parse_kind(std::string_view& text) {
  static constexpr std::pair<std::string_view, AttrKind> kKinds[] = {
      {"int", AttrKind::Int},   {"float", AttrKind::Float}, {"bool", AttrKind::Bool},     {"string", AttrKind::String},
      {"type", AttrKind::Type}, {"shape", AttrKind::Shape}, {"tensor", AttrKind::Tensor}, {"func", AttrKind::Func}};
  for (auto [name, kind] : kKinds) {
    if (take_prefix(text, name)) return kind;
  }
  throw invalid_argument("unknown attribute kind '{}'", text);
}

void parse_allowed(AttrSpec& spec, std::string_view list) {
  // split() leaves empty items out; as a text the empty one comes first: "{,grayscale,rgb}".
  if (spec.kind != AttrKind::Type && list.starts_with(',')) spec.allowed_strings.emplace_back();
  for (std::string_view item : split(list, ',')) {
    if (spec.kind == AttrKind::Type) {
      spec.allowed_types.push_back(parse_type(item));
    } else {
      spec.allowed_strings.emplace_back(item);
    }
  }
}

ArgSpec parse_arg(std::string_view text, const std::vector<AttrSpec>& attrs) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) throw invalid_argument("'{}' is no argument", text);
  ArgSpec spec;
  spec.name = text.substr(0, colon);
  std::string_view type = trim(text.substr(colon + 1));
  if (take_prefix(type, "Ref(")) {
    spec.is_ref = true;
    type.remove_suffix(1);
  }
  if (size_t star = type.find('*'); star != std::string_view::npos) {
    spec.number_attr = type.substr(0, star);
    type.remove_prefix(star + 1);
  }
  auto attr = std::find_if(attrs.begin(), attrs.end(), [&](const AttrSpec& a) { return a.name == type; });
  if (attr == attrs.end()) {
    spec.type = parse_type(type);
  } else if (attr->is_list) {
    spec.type_list_attr = type;
  } else {
    spec.type_attr = type;
  }
  return spec;
}

// Of the input or output of that name. Throws when there is none.
void keep_on_host(Op& op, std::string_view name) {
  bool found = false;
  for (std::vector<ArgSpec>* args : {&op.inputs, &op.outputs}) {
    for (ArgSpec& arg : *args) {
      if (arg.name != name) continue;
      arg.on_host = found = true;
    }
  }
  if (!found) throw invalid_argument("{}: there is no '{}' that could stay on the host", op.name, name);
}

Effect effect_of(const Op& op) {
  if (op.def->effect != Effect::FromSignature) return op.def->effect;
  const bool takes_resource = !op.inputs.empty() && op.inputs[0].type == DType::Resource;
  if (op.has_ref_input() || (op.stateful && takes_resource)) return Effect::Writes;
  return op.stateful ? Effect::Other : Effect::None;
}

const ArgSpec& find_arg(const std::vector<ArgSpec>& args, size_t number, const AttrMap& attrs) {
  for (const ArgSpec& arg : args) {
    size_t count = 1;
    if (!arg.number_attr.empty()) count = static_cast<size_t>(attrs.get<int64_t>(arg.number_attr));
    if (!arg.type_list_attr.empty()) count = attrs.get<std::vector<DType>>(arg.type_list_attr).size();
    if (number < count) return arg;
    number -= count;
  }
  throw error(Code::Internal, "an operation has fewer arguments than its node");
}

template <class T>
bool holds(const AttrSpec& spec, const AttrValue& value) {
  return spec.is_list ? std::holds_alternative<std::vector<T>>(value) : std::holds_alternative<T>(value);
}

template <class T>
std::string join(const std::vector<T>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) text += ", ";
    text += attr_to_string(AttrValue(static_cast<T>(values[i])));
  }
  return text + "]";
}

struct Printer {
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(float v) const { return fmt::format("{}", v); }
  std::string operator()(bool v) const { return v ? "True" : "False"; }
  std::string operator()(const std::string& v) const { return "'" + v + "'"; }
  std::string operator()(DType v) const { return std::string(dtype_name(v)); }
  std::string operator()(const Shape& v) const { return v.str(); }
  std::string operator()(const Tensor& v) const { return v.str(); }
  std::string operator()(const FunctionName& v) const { return v.name; }
  template <class T>
  std::string operator()(const std::vector<T>& v) const {
    return join(v);
  }
};

}  // namespace

AttrSpec parse_attr(std::string_view text) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) throw invalid_argument("'{}' is no attribute", text);
  AttrSpec spec;
  spec.name = trim(text.substr(0, colon));
  std::string_view rest = trim(text.substr(colon + 1));
  if (take_prefix(rest, "numbertype")) {
    spec.kind = AttrKind::Type;
    parse_allowed(spec, kNumberTypes);
  } else if (take_prefix(rest, "realnumbertype")) {
    spec.kind = AttrKind::Type;
    parse_allowed(spec, kRealNumberTypes);
  } else if (take_prefix(rest, "list(")) {
    spec.is_list = true;
    spec.kind = parse_kind(rest);
    if (!take_prefix(rest, ")")) throw invalid_argument("'{}' is no attribute", text);
  } else {
    spec.kind = parse_kind(rest);
  }
  if (take_prefix(rest, "{")) {
    size_t close = rest.find('}');
    if (close == std::string_view::npos) throw invalid_argument("'{}' is no attribute", text);
    parse_allowed(spec, rest.substr(0, close));
    rest.remove_prefix(close + 1);
  }
  if (take_prefix(rest, ">=")) {
    size_t end = std::min(rest.find('='), rest.size());
    spec.minimum = parse_int(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  if (take_prefix(rest, "=")) spec.default_value = parse_default(spec, rest);
  return spec;
}

Op parse_op(const OpDef& def) {
  Op op;
  op.def = &def;
  op.name = def.name;
  for (std::string_view text : split(def.attrs, ';')) op.attrs.push_back(parse_attr(text));
  for (std::string_view text : split(def.inputs, ';')) op.inputs.push_back(parse_arg(text, op.attrs));
  for (std::string_view text : split(def.outputs, ';')) op.outputs.push_back(parse_arg(text, op.attrs));
  for (std::string_view flag : split(def.flags, ',')) {
    if (flag == "stateful") {
      op.stateful = true;
    } else if (flag == "commutative") {
      op.commutative = true;
    } else if (flag == "aggregate") {
      op.aggregate = true;
    } else if (flag == "uninitialized_input") {
      op.uninitialized_input = true;
    } else if (!flag.starts_with("deprecated@")) {
      throw invalid_argument("{}: unknown flag '{}'", def.name, flag);
    }
  }
  for (std::string_view name : split(def.host, ',')) keep_on_host(op, name);
  op.role = def.role;
  op.effect = effect_of(op);
  return op;
}

const AttrSpec* Op::attr(std::string_view attr_name) const {
  for (const AttrSpec& spec : attrs) {
    if (spec.name == attr_name) return &spec;
  }
  return nullptr;
}

bool Op::has_ref_input() const {
  return std::any_of(inputs.begin(), inputs.end(), [](const ArgSpec& arg) { return arg.is_ref; });
}

const ArgSpec& Op::input_arg(size_t number, const AttrMap& node_attrs) const {
  return find_arg(inputs, number, node_attrs);
}

const ArgSpec& Op::output_arg(size_t number, const AttrMap& node_attrs) const {
  return find_arg(outputs, number, node_attrs);
}

std::string attr_kind_name(AttrKind kind, bool is_list) {
  static constexpr std::string_view kNames[] = {"int", "float", "bool", "string", "type", "shape", "tensor", "func"};
  std::string name(kNames[static_cast<size_t>(kind)]);
  return is_list ? "list(" + name + ")" : name;
}

bool attr_matches(const AttrSpec& spec, const AttrValue& value) {
  switch (spec.kind) {
    case AttrKind::Int:
      return holds<int64_t>(spec, value);
    case AttrKind::Float:
      return holds<float>(spec, value);
    case AttrKind::Bool:
      return holds<bool>(spec, value);
    case AttrKind::String:
      return holds<std::string>(spec, value);
    case AttrKind::Type:
      return holds<DType>(spec, value);
    case AttrKind::Shape:
      return holds<Shape>(spec, value);
    case AttrKind::Tensor:
      return holds<Tensor>(spec, value);
    case AttrKind::Func:
      return holds<FunctionName>(spec, value);
  }
  return false;
}

std::string attr_to_string(const AttrValue& value) { return std::visit(Printer{}, value); }

}  // namespace weir
