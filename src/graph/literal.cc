#include <cmath>
#include <complex>
#include <limits>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/variables.h"
#include "weir/graph.h"

namespace weir {
namespace {

template <class T, class From>
T convert_number(From value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if constexpr (std::is_integral_v<From>) {
      if (!std::in_range<T>(value)) throw invalid_argument("{} does not fit {}", value, dtype_name(dtype_of<T>));
      return static_cast<T>(value);
    } else {
      throw invalid_argument("expected {}, got the number {}", dtype_name(dtype_of<T>), value);
    }
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(value));
  } else {
    return T(static_cast<double>(value));
  }
}

template <class T>
Tensor convert_numbers(const Tensor& literal) {
  Tensor result(dtype_of<T>, literal.shape());
  auto fill = [&](auto from) {
    for (int64_t i = 0; i < literal.elements(); ++i) {
      result.mutable_data<T>()[i] = convert_number<T>(from[static_cast<size_t>(i)]);
    }
  };
  if (literal.dtype() == DType::Int64) {
    fill(literal.data<int64_t>());
  } else {
    fill(literal.data<double>());
  }
  return result;
}

Tensor widen(const Tensor& t) { return t.dtype() == DType::Int64 ? convert_numbers<double>(t) : t; }

}  // namespace

Literal::Literal(std::initializer_list<Literal> list) {
  if (list.size() == 0) {
    tensor_ = Tensor(DType::Int64, Shape{0});
    return;
  }
  bool any_float = false;
  for (const Literal& item : list) any_float |= item.tensor().dtype() == DType::Float64;
  std::vector<Tensor> items;
  for (const Literal& item : list) items.push_back(any_float ? widen(item.tensor()) : item.tensor());

  Shape shape{static_cast<int64_t>(items.size())};
  for (int64_t dim : items[0].shape().dims()) shape.append(dim);
  tensor_ = Tensor(items[0].dtype(), shape);
  int64_t each = items[0].elements();
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].shape() != items[0].shape() || items[i].dtype() != items[0].dtype()) {
      throw invalid_argument("a nested list is ragged or mixes kinds: item {} is {} {}, item 0 is {} {}", i,
                             dtype_name(items[i].dtype()), items[i].shape().str(), dtype_name(items[0].dtype()),
                             items[0].shape().str());
    }
    auto copy = [&](auto* to, auto from) { std::copy(from.begin(), from.end(), to + static_cast<int64_t>(i) * each); };
    switch (tensor_.dtype()) {
      case DType::Int64:
        copy(tensor_.mutable_data<int64_t>(), items[i].data<int64_t>());
        break;
      case DType::Float64:
        copy(tensor_.mutable_data<double>(), items[i].data<double>());
        break;
      case DType::Bool:
        copy(tensor_.mutable_data<bool>(), items[i].data<bool>());
        break;
      default:
        copy(tensor_.mutable_data<std::string>(), items[i].data<std::string>());
        break;
    }
  }
}

In::In(const Variable& variable, Where where) : output_(value_here(variable)), where_(where) {}

In::In(const Shape& shape, Where where) : where_(where) {
  if (!shape.is_known())
    throw invalid_argument("the shape {} is not fully known and cannot be a constant", shape.str());
  value_ = Tensor(DType::Int32, Shape{shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) value_.mutable_data<int32_t>()[i] = convert_number<int32_t>(shape[i]);
}

InList::InList(std::initializer_list<In> values) : values_(values) {}
InList::InList(std::vector<In> values) : values_(std::move(values)) {}
InList::InList(const std::vector<Output>& values, In::Where where) {
  for (const Output& value : values) values_.emplace_back(value, where);
}
InList::InList(const InList&) = default;
InList::InList(InList&&) noexcept = default;
InList& InList::operator=(const InList&) = default;
InList& InList::operator=(InList&&) noexcept = default;
InList::~InList() = default;

DType default_literal_type(const Tensor& literal) {
  switch (literal.dtype()) {
    case DType::Int64:
      return DType::Int32;
    case DType::Float64:
      return DType::Float32;
    default:
      return literal.dtype();
  }
}

Tensor convert_literal(const Tensor& literal, DType dtype) {
  if (literal.dtype() == dtype && dtype != DType::Int64 && dtype != DType::Float64) return literal;
  if (literal.dtype() == DType::Int64 || literal.dtype() == DType::Float64) {
    switch (dtype) {
      case DType::Float32:
        return convert_numbers<float>(literal);
      case DType::Float64:
        return convert_numbers<double>(literal);
      case DType::Float16:
        return convert_numbers<Half>(literal);
      case DType::BFloat16:
        return convert_numbers<BFloat16>(literal);
      case DType::Int8:
        return convert_numbers<int8_t>(literal);
      case DType::Int16:
        return convert_numbers<int16_t>(literal);
      case DType::Int32:
        return convert_numbers<int32_t>(literal);
      case DType::Int64:
        return convert_numbers<int64_t>(literal);
      case DType::UInt8:
        return convert_numbers<uint8_t>(literal);
      case DType::UInt16:
        return convert_numbers<uint16_t>(literal);
      case DType::UInt32:
        return convert_numbers<uint32_t>(literal);
      case DType::UInt64:
        return convert_numbers<uint64_t>(literal);
      case DType::Complex64:
        return convert_numbers<std::complex<float>>(literal);
      case DType::Complex128:
        return convert_numbers<std::complex<double>>(literal);
      default:
        break;
    }
  }
  throw invalid_argument("expected {}, got {}", dtype_name(dtype), literal.str());
}

}  // namespace weir
