#include "tensor/tensor_proto.h"

#include <cstring>

#include "base/errors.h"

namespace weir {
namespace {

// Repeats the last value given for the elements that are missing; zeros when there is none.
template <class T, class Values, class Convert>
void fill(Tensor& tensor, const Values& values, Convert convert) {
  int64_t elements = tensor.elements(), given = values.size();
  if (given > elements) {
    throw invalid_argument("{} values are given for a tensor of shape {}", given, tensor.shape().str());
  }
  T* out = static_cast<T*>(tensor.mutable_raw());
  for (int64_t i = 0; i < given; ++i) out[i] = convert(values.Get(static_cast<int>(i)));
  std::fill(out + given, out + elements, given ? out[given - 1] : T{});
}

template <class T, class Values>
void fill(Tensor& tensor, const Values& values) {
  fill<T>(tensor, values, [](auto value) { return static_cast<T>(value); });
}

// Complex numbers stand as real and imaginary part in turn.
template <class T, class Values>
void fill_complex(Tensor& tensor, const Values& values) {
  if (values.size() % 2 != 0) throw invalid_argument("a complex tensor has {} parts, an odd number", values.size());
  int64_t elements = tensor.elements(), given = values.size() / 2;
  if (given > elements) {
    throw invalid_argument("{} values are given for a tensor of shape {}", given, tensor.shape().str());
  }
  auto* out = tensor.mutable_data<std::complex<T>>();
  for (int i = 0; i < given; ++i) out[i] = {values.Get(2 * i), values.Get(2 * i + 1)};
  std::fill(out + given, out + elements, given ? out[given - 1] : std::complex<T>{});
}

void fill_typed(Tensor& tensor, const proto::TensorProto& m) {
  switch (tensor.dtype()) {
    case DType::Float32:
      return fill<float>(tensor, m.float_val());
    case DType::Float64:
      return fill<double>(tensor, m.double_val());
    case DType::Float16:
    case DType::BFloat16:
      return fill<uint16_t>(tensor, m.half_val());
    case DType::Int8:
    case DType::QInt8:
      return fill<int8_t>(tensor, m.int_val());
    case DType::UInt8:
    case DType::QUInt8:
      return fill<uint8_t>(tensor, m.int_val());
    case DType::Int16:
    case DType::QInt16:
      return fill<int16_t>(tensor, m.int_val());
    case DType::UInt16:
    case DType::QUInt16:
      return fill<uint16_t>(tensor, m.int_val());
    case DType::Int32:
    case DType::QInt32:
      return fill<int32_t>(tensor, m.int_val());
    case DType::Int64:
      return fill<int64_t>(tensor, m.int64_val());
    case DType::UInt32:
      return fill<uint32_t>(tensor, m.uint32_val());
    case DType::UInt64:
      return fill<uint64_t>(tensor, m.uint64_val());
    case DType::Bool:
      return fill<bool>(tensor, m.bool_val());
    case DType::String:
      return fill<std::string>(tensor, m.string_val(), [](const std::string& value) { return value; });
    case DType::Complex64:
      return fill_complex<float>(tensor, m.scomplex_val());
    case DType::Complex128:
      return fill_complex<double>(tensor, m.dcomplex_val());
    default:
      throw error(Code::Unimplemented, "a constant of type {}", dtype_name(tensor.dtype()));
  }
}

// The lengths of all strings as varints, then their bytes.
void read_strings(Tensor& tensor, std::string_view content) {
  std::vector<uint64_t> lengths;
  size_t at = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    uint64_t length = 0;
    for (int shift = 0;; shift += 7) {
      if (at == content.size() || shift > 28) throw invalid_argument("the content of a string tensor is cut short");
      auto byte = static_cast<uint8_t>(content[at++]);
      length |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    lengths.push_back(length);
  }
  auto* out = tensor.mutable_data<std::string>();
  for (uint64_t length : lengths) {
    if (length > content.size() - at) throw invalid_argument("the content of a string tensor is cut short");
    *out++ = content.substr(at, length);
    at += length;
  }
  if (at != content.size()) throw invalid_argument("the content of a string tensor is too long");
}

void read_content(Tensor& tensor, const std::string& content) {
  if (tensor.dtype() == DType::String) return read_strings(tensor, content);
  if (content.size() != tensor.bytes()) {
    throw invalid_argument("a {} tensor of shape {} takes {} bytes; its content has {}", dtype_name(tensor.dtype()),
                           tensor.shape().str(), tensor.bytes(), content.size());
  }
  if (tensor.dtype() == DType::Bool) {  // any other bit pattern in a bool is undefined behaviour
    auto* out = tensor.mutable_data<bool>();
    for (char byte : content) *out++ = byte != 0;
    return;
  }
  std::memcpy(tensor.mutable_raw(), content.data(), content.size());
}

void write_single(const Tensor& t, proto::TensorProto& m) {
  switch (t.dtype()) {
    case DType::Float32:
      m.add_float_val(t.data<float>()[0]);
      break;
    case DType::Float64:
      m.add_double_val(t.data<double>()[0]);
      break;
    case DType::Float16:
      m.add_half_val(t.data<Half>()[0].bits);
      break;
    case DType::BFloat16:
      m.add_half_val(t.data<BFloat16>()[0].bits);
      break;
    case DType::Int8:
      m.add_int_val(t.data<int8_t>()[0]);
      break;
    case DType::UInt8:
      m.add_int_val(t.data<uint8_t>()[0]);
      break;
    case DType::Int16:
      m.add_int_val(t.data<int16_t>()[0]);
      break;
    case DType::UInt16:
      m.add_int_val(t.data<uint16_t>()[0]);
      break;
    case DType::Int32:
      m.add_int_val(t.data<int32_t>()[0]);
      break;
    case DType::Int64:
      m.add_int64_val(t.data<int64_t>()[0]);
      break;
    case DType::UInt32:
      m.add_uint32_val(t.data<uint32_t>()[0]);
      break;
    case DType::UInt64:
      m.add_uint64_val(t.data<uint64_t>()[0]);
      break;
    case DType::Bool:
      m.add_bool_val(t.data<bool>()[0]);
      break;
    case DType::Complex64:
      m.add_scomplex_val(t.data<std::complex<float>>()[0].real());
      m.add_scomplex_val(t.data<std::complex<float>>()[0].imag());
      break;
    case DType::Complex128:
      m.add_dcomplex_val(t.data<std::complex<double>>()[0].real());
      m.add_dcomplex_val(t.data<std::complex<double>>()[0].imag());
      break;
    default:
      m.set_tensor_content(t.raw(), t.bytes());
      break;  // quantised types
  }
}

}  // namespace

void shape_to_proto(const Shape& shape, proto::TensorShapeProto& message) {
  if (!shape.has_rank()) return message.set_unknown_rank(true);
  for (int64_t dim : shape.dims()) message.add_dim()->set_size(dim);
}

Shape shape_from_proto(const proto::TensorShapeProto& message) {
  if (message.unknown_rank()) {
    if (message.dim_size() > 0) throw invalid_argument("a shape of unknown rank has {} dimensions", message.dim_size());
    return Shape::unknown();
  }
  std::vector<int64_t> dims;
  for (const auto& dim : message.dim()) dims.push_back(dim.size());
  return Shape(dims);
}

void ExpansionAllowance::take(int64_t bytes) {
  if (bytes > left_) {
    throw error(Code::ResourceExhausted, "constants of {} bytes are written as a single value; {} more are allowed",
                bytes, left_);
  }
  left_ -= bytes;
}

void tensor_to_proto(const Tensor& tensor, proto::TensorProto& message) {
  message.set_dtype(static_cast<proto::DataType>(tensor.dtype()));
  shape_to_proto(tensor.shape(), *message.mutable_tensor_shape());
  if (tensor.dtype() == DType::String) {
    for (const std::string& value : tensor.data<std::string>()) message.add_string_val(value);
  } else if (tensor.elements() == 1) {
    write_single(tensor, message);
  } else if (tensor.elements() > 1) {
    message.set_tensor_content(tensor.raw(), tensor.bytes());
  }
}

Tensor tensor_from_proto(const proto::TensorProto& message, ExpansionAllowance& allowance) {
  auto dtype = static_cast<DType>(message.dtype());
  if (dtype == DType::Resource || dtype == DType::Variant) {
    throw error(Code::Unimplemented, "a constant of type {}", dtype_name(dtype));
  }
  if (dtype_size(dtype) == 0) throw invalid_argument("a constant of type number {}", static_cast<int>(message.dtype()));
  Shape shape = shape_from_proto(message.tensor_shape());
  if (!shape.is_known()) throw invalid_argument("a constant has the shape {}", shape.str());
  int64_t bytes = checked_multiply(shape.elements(), static_cast<int64_t>(dtype_size(dtype)));
  // Bytes are counted before they are allocated: the message itself is the bound for everything else.
  allowance.take(std::max<int64_t>(0, bytes - static_cast<int64_t>(message.ByteSizeLong())));
  Tensor tensor(dtype, shape);
  if (message.tensor_content().empty()) {
    fill_typed(tensor, message);
  } else {
    read_content(tensor, message.tensor_content());
  }
  return tensor;
}

}  // namespace weir
