#include "io/checkpoint_v1.h"

#include <google/protobuf/io/coded_stream.h>

#include <limits>

#include "base/errors.h"
#include "tensor/tensor_proto.h"

namespace weir::io {
namespace {

constexpr int kVersion = 1;

template <class T, class Field, class Convert>
void append(const Tensor& tensor, Field* field, Convert convert) {
  const T* values = static_cast<const T*>(tensor.raw());
  for (int64_t i = 0; i < tensor.elements(); ++i) *field->Add() = convert(values[i]);
}

template <class T, class Field>
void append(const Tensor& tensor, Field* field) {
  append<T>(tensor, field, [](T value) { return value; });
}

template <class T, class Field>
void append_complex(const Tensor& tensor, Field* field) {
  for (const std::complex<T>& value : tensor.data<std::complex<T>>()) {
    field->Add(value.real());
    field->Add(value.imag());
  }
}

// TensorFlow reads the elements of a V1 checkpoint from the typed fields only.
void append_typed(const Tensor& t, proto::TensorProto& m) {
  switch (t.dtype()) {
    case DType::Float32:
      return append<float>(t, m.mutable_float_val());
    case DType::Float64:
      return append<double>(t, m.mutable_double_val());
    case DType::Float16:
    case DType::BFloat16:
      return append<uint16_t>(t, m.mutable_half_val());
    case DType::Int8:
    case DType::QInt8:
      return append<int8_t>(t, m.mutable_int_val());
    case DType::UInt8:
    case DType::QUInt8:
      return append<uint8_t>(t, m.mutable_int_val());
    case DType::Int16:
    case DType::QInt16:
      return append<int16_t>(t, m.mutable_int_val());
    case DType::UInt16:
    case DType::QUInt16:
      return append<uint16_t>(t, m.mutable_int_val());
    case DType::Int32:
    case DType::QInt32:
      return append<int32_t>(t, m.mutable_int_val());
    case DType::Int64:
      return append<int64_t>(t, m.mutable_int64_val());
    case DType::UInt32:
      return append<uint32_t>(t, m.mutable_uint32_val());
    case DType::UInt64:
      return append<uint64_t>(t, m.mutable_uint64_val());
    case DType::Bool:
      return append<bool>(t, m.mutable_bool_val());
    case DType::String:
      for (const std::string& text : t.data<std::string>()) m.add_string_val(text);
      return;
    case DType::Complex64:
      return append_complex<float>(t, m.mutable_scomplex_val());
    case DType::Complex128:
      return append_complex<double>(t, m.mutable_dcomplex_val());
    default:
      throw error(Code::Unimplemented, "a tensor of type {} cannot be saved", dtype_name(t.dtype()));
  }
}

[[noreturn]] void damaged(const TableReader& table, const std::string& name, std::string_view what) {
  throw error(Code::DataLoss, "the file '{}' is damaged: {} (tensor '{}')", table.path(), what, name);
}

bool parse(const std::string& bytes, proto::SavedTensorSlices& message) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) return false;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  return message.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

}  // namespace

V1Reader::V1Reader(std::string pattern) : pattern_(std::move(pattern)) {
  for (const std::string& path : match_files(pattern_)) tables_.push_back(std::make_unique<TableReader>(path));
  if (tables_.empty())
    throw not_found("Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {}", pattern_);
  for (const auto& table : tables_) {
    proto::SavedTensorSlices message;
    const auto meta = table->find("");
    if (!meta || !parse(*meta, message) || !message.has_meta()) damaged(*table, "", "it has no list of tensors");
    if (message.meta().versions().min_consumer() > kVersion) {
      throw error(Code::Unimplemented, "the checkpoint '{}' needs version {} of its format; this is {}", table->path(),
                  message.meta().versions().min_consumer(), kVersion);
    }
    for (const proto::SavedSliceMeta& saved : message.meta().tensor()) {
      try {
        const Shape shape = shape_from_proto(saved.shape());
        if (shape.elements() < 0) throw invalid_argument("its shape is not known");
        Stored& stored = tensors_[saved.name()];
        if (stored.slices.empty()) {
          stored.dtype = static_cast<DType>(saved.type());
          stored.shape = shape;
        } else if (stored.dtype != static_cast<DType>(saved.type()) || stored.shape != shape) {
          throw invalid_argument("two files disagree about its type or shape");
        }
        for (const auto& slice : saved.slice()) {
          stored.slices.emplace_back(TensorSlice(slice), table.get());
          (void)stored.slices.back().first.resolved(shape);
        }
      } catch (const Error& e) {
        damaged(*table, saved.name(), e.message());
      }
    }
  }
}

const V1Reader::Stored& V1Reader::require(std::string_view name) const {
  auto it = tensors_.find(name);
  if (it == tensors_.end()) throw not_found("Key {} not found in checkpoint {}", name, pattern_);
  return it->second;
}

Tensor V1Reader::read_stored(const std::string& name, const Stored& stored, const TensorSlice& slice,
                             const TableReader& table) const {
  const auto bytes = table.find(slice_key(name, slice));
  proto::SavedTensorSlices message;
  if (!bytes || !parse(*bytes, message) || !message.has_data()) damaged(table, name, "a slice is missing");
  proto::TensorProto& data = *message.mutable_data()->mutable_data();
  // Type and shape stand in the list of tensors; here they may be left out.
  data.set_dtype(static_cast<proto::DataType>(stored.dtype));
  data.clear_tensor_shape();
  shape_to_proto(slice.resolved(stored.shape).shape(), *data.mutable_tensor_shape());
  try {
    // The shortest encodings: a number of 8 bytes in one, an empty string in two.
    ExpansionAllowance allowance(32 * static_cast<int64_t>(bytes->size()));
    return tensor_from_proto(data, allowance);
  } catch (const Error& e) {
    if (e.code() == Code::Unimplemented) throw;
    damaged(table, name, e.message());
  }
}

Tensor V1Reader::read(std::string_view name) const {
  return read_slice(name, TensorSlice::whole(require(name).shape.rank()));
}

Tensor V1Reader::read_slice(std::string_view name, const TensorSlice& slice) const {
  const Stored& stored = require(name);
  const TensorSlice wanted = slice.resolved(stored.shape);
  const std::string key(name);
  std::vector<std::pair<Tensor, TensorSlice>> parts;
  int64_t covered = 0;
  for (const auto& [as_written, table] : stored.slices) {
    const TensorSlice resolved = as_written.resolved(stored.shape);
    const int64_t common = overlap(resolved, wanted);
    if (common == 0 && wanted.shape().elements() > 0) continue;
    Tensor part = read_stored(key, stored, as_written, *table);
    if (resolved == wanted) return part;
    covered += common;
    parts.emplace_back(std::move(part), resolved);
  }
  if (covered != wanted.shape().elements()) {
    throw invalid_argument("the slices of '{}' in checkpoint '{}' do not cover what is asked for", name, pattern_);
  }
  Tensor result = Tensor::zeros(stored.dtype, wanted.shape());
  for (const auto& [part, part_slice] : parts) copy_overlap(part, part_slice, result, wanted);
  return result;
}

void V1Writer::add_slice(const std::string& name, const Shape& full_shape, const TensorSlice& slice,
                         const Tensor& tensor) {
  if (slice.resolved(full_shape).shape() != tensor.shape()) {
    throw invalid_argument("the slice {} of '{}' does not fit a tensor of shape {}", slice.str(), name,
                           tensor.shape().str());
  }
  proto::SavedSliceMeta& meta = metas_[name];
  if (meta.slice_size() == 0) {
    meta.set_name(name);
    meta.set_type(static_cast<proto::DataType>(tensor.dtype()));
    shape_to_proto(full_shape, *meta.mutable_shape());
  } else if (meta.type() != static_cast<proto::DataType>(tensor.dtype()) ||
             shape_from_proto(meta.shape()) != full_shape) {
    throw invalid_argument("slices of '{}' differ in type or in the shape of the whole", name);
  }
  slice.to_proto(*meta.add_slice());
  proto::SavedTensorSlices message;
  message.mutable_data()->set_name(name);
  slice.to_proto(*message.mutable_data()->mutable_slice());
  append_typed(tensor, *message.mutable_data()->mutable_data());
  if (message.ByteSizeLong() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    throw invalid_argument("'{}' is too large for a V1 checkpoint (2 GB); write version 2", name);
  }
  if (!values_.emplace(slice_key(name, slice), message.SerializeAsString()).second) {
    throw invalid_argument("'{}' is saved twice to '{}'", name, file_.path());
  }
}

void V1Writer::finish() {
  proto::SavedTensorSlices head;
  for (const auto& [name, meta] : metas_) *head.mutable_meta()->add_tensor() = meta;
  head.mutable_meta()->mutable_versions()->set_producer(kVersion);
  TableWriter table(file_);
  table.add("", head.SerializeAsString());
  for (const auto& [key, value] : values_) table.add(key, value);
  table.finish();
  file_.commit();
}

}  // namespace weir::io
