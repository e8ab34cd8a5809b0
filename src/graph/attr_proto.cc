#include "graph/attr_proto.h"

#include <map>

#include "base/errors.h"

namespace weir {
namespace {

proto::DataType type_to_proto(DType dtype) { return static_cast<proto::DataType>(dtype); }

void function_to_proto(const FunctionName& function, proto::NameAttrList& message) {
  message.set_name(function.name);
  for (const auto& [name, bytes] : function.attrs) (*message.mutable_attr())[name].ParseFromString(bytes);
}

FunctionName function_from_proto(const proto::NameAttrList& message) {
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : message.attr()) sorted[name] = value.SerializeAsString();
  return {message.name(), {sorted.begin(), sorted.end()}};
}

struct Writer {
  proto::AttrValue& message;
  proto::AttrValue::ListValue& list() const { return *message.mutable_list(); }

  void operator()(int64_t v) const { message.set_i(v); }
  void operator()(float v) const { message.set_f(v); }
  void operator()(bool v) const { message.set_b(v); }
  void operator()(const std::string& v) const { message.set_s(v); }
  void operator()(DType v) const { message.set_type(type_to_proto(v)); }
  void operator()(const Shape& v) const { shape_to_proto(v, *message.mutable_shape()); }
  void operator()(const Tensor& v) const { tensor_to_proto(v, *message.mutable_tensor()); }
  void operator()(const FunctionName& v) const { function_to_proto(v, *message.mutable_func()); }
  template <class T>
  void operator()(const std::vector<T>& values) const {
    list();  // an empty list is still a list
    for (const T& value : values) append(value);
  }

  void append(int64_t v) const { list().add_i(v); }
  void append(float v) const { list().add_f(v); }
  void append(bool v) const { list().add_b(v); }
  void append(const std::string& v) const { list().add_s(v); }
  void append(DType v) const { list().add_type(type_to_proto(v)); }
  void append(const Shape& v) const { shape_to_proto(v, *list().add_shape()); }
  void append(const Tensor& v) const { tensor_to_proto(v, *list().add_tensor()); }
  void append(const FunctionName& v) const { function_to_proto(v, *list().add_func()); }
};

AttrKind list_kind(const proto::AttrValue::ListValue& list, const AttrSpec* spec) {
  const std::pair<int, AttrKind> fields[] = {
      {list.s_size(), AttrKind::String},      {list.i_size(), AttrKind::Int},     {list.f_size(), AttrKind::Float},
      {list.b_size(), AttrKind::Bool},        {list.type_size(), AttrKind::Type}, {list.shape_size(), AttrKind::Shape},
      {list.tensor_size(), AttrKind::Tensor}, {list.func_size(), AttrKind::Func}};
  AttrKind kind = spec ? spec->kind : AttrKind::String;
  int kinds = 0;
  for (auto [size, field_kind] : fields) {
    if (size == 0) continue;
    kind = field_kind;
    ++kinds;
  }
  if (kinds > 1) throw invalid_argument("a list holds values of {} kinds", kinds);
  return kind;
}

AttrValue list_from_proto(const proto::AttrValue::ListValue& list, const AttrSpec* spec,
                          ExpansionAllowance& allowance) {
  auto all = [](const auto& field, auto convert) {
    std::vector<decltype(convert(field.Get(0)))> values;
    for (const auto& value : field) values.push_back(convert(value));
    return AttrValue(std::move(values));
  };
  switch (list_kind(list, spec)) {
    case AttrKind::Int:
      return all(list.i(), [](int64_t v) { return v; });
    case AttrKind::Float:
      return all(list.f(), [](float v) { return v; });
    case AttrKind::Bool:
      return all(list.b(), [](bool v) { return v; });
    case AttrKind::String:
      return all(list.s(), [](const std::string& v) { return v; });
    case AttrKind::Type:
      return all(list.type(), [](int v) { return static_cast<DType>(v); });
    case AttrKind::Shape:
      return all(list.shape(), shape_from_proto);
    case AttrKind::Tensor:
      return all(list.tensor(), [&](const proto::TensorProto& v) { return tensor_from_proto(v, allowance); });
    case AttrKind::Func:
      return all(list.func(), function_from_proto);
  }
  throw invalid_argument("a list of no kind");
}

}  // namespace

void attr_to_proto(const AttrValue& value, proto::AttrValue& message) { std::visit(Writer{message}, value); }

AttrValue attr_from_proto(const proto::AttrValue& message, const AttrSpec* spec, ExpansionAllowance& allowance) {
  switch (message.value_case()) {
    case proto::AttrValue::kI:
      return message.i();
    case proto::AttrValue::kF:
      return message.f();
    case proto::AttrValue::kB:
      return message.b();
    case proto::AttrValue::kS:
      return message.s();
    case proto::AttrValue::kType:
      return static_cast<DType>(message.type());
    case proto::AttrValue::kShape:
      return shape_from_proto(message.shape());
    case proto::AttrValue::kTensor:
      return tensor_from_proto(message.tensor(), allowance);
    case proto::AttrValue::kFunc:
      return function_from_proto(message.func());
    case proto::AttrValue::kList:
      return list_from_proto(message.list(), spec, allowance);
    case proto::AttrValue::kPlaceholder:
      throw invalid_argument("the value is left to a call ('{}'), which stands outside functions",
                             message.placeholder());
    case proto::AttrValue::VALUE_NOT_SET:
      break;
  }
  throw invalid_argument("there is no value");
}

}  // namespace weir
