#include "base/errors.h"
#include "ops/sparse/serialized.h"
#include "ops/sparse/sparse.h"
#include "tensor/tensor_proto.h"

// Sparse tensors as strings: messages of indices, values and shape.
namespace weir::ops {
namespace {

ComputeFn only_strings(const NodeView& node, std::string_view attr, ComputeFn fn) {
  return node.type(attr) == DType::String ? fn : nullptr;
}

void infer_one(InferContext& c) {
  infer_sparse_input(c, 0);
  c.set_output(0, Shape{3});
}

void infer_many(InferContext& c) {
  infer_sparse_input(c, 0);
  c.set_output(0, Shape{kUnknown, 3});
}

std::string message_of(const Tensor& tensor) {
  proto::TensorProto message;
  tensor_to_proto(tensor, message);
  return message.SerializeAsString();
}

void serialize(KernelContext& c) {
  for (int i = 0; i < 3; ++i) c.output<std::string>()[i] = message_of(c.input_view(i));
}

void serialize_many(KernelContext& c) {
  const auto parts = sparse_rows(c.input_view(0), c.input_view(1), c.input_view(2));
  Tensor result(DType::String, Shape{static_cast<int64_t>(parts.size()), 3});
  auto* to = result.mutable_data<std::string>();
  for (const SparseValue& part : parts) {
    *to++ = message_of(part.indices);
    *to++ = message_of(part.values);
    *to++ = message_of(Tensor(part.shape));
  }
  c.set_output(0, std::move(result));
}

// Part `which` (indices, values or shape) of sparse tensor `row`.
Tensor parsed(const std::string* texts, int64_t row, int which, DType dtype, ExpansionAllowance& allowance) {
  proto::TensorProto message;
  if (!message.ParseFromString(texts[3 * row + which])) {
    throw invalid_argument("Could not parse serialized_sparse[{}, {}]", row, which);
  }
  Tensor tensor = tensor_from_proto(message, allowance);
  constexpr std::string_view kNames[] = {"indices", "values", "shape"};
  if (tensor.dtype() != dtype) {
    throw invalid_argument("Requested SparseTensor of type {} but SparseTensor[{}].{}.dtype() == {}", dtype_name(dtype), row,
                           kNames[which], dtype_name(tensor.dtype()));
  }
  const int rank = which == 0 ? 2 : 1;
  if (tensor.shape().rank() != rank) {
    throw invalid_argument("Expected serialized_sparse[{}, {}] to represent {} of rank {} but received shape {}", row, which,
                           kNames[which], rank, tensor.shape().str());
  }
  return tensor;
}

SparseValue read(const std::string* texts, int64_t row, DType dtype, ExpansionAllowance& allowance) {
  SparseValue value;
  value.indices = parsed(texts, row, 0, DType::Int64, allowance);
  value.values = parsed(texts, row, 1, dtype, allowance);
  const Tensor shape = parsed(texts, row, 2, DType::Int64, allowance);
  value.shape.assign(shape.data<int64_t>().begin(), shape.data<int64_t>().end());
  if (value.indices.shape()[0] != value.values.elements() ||
      value.indices.shape()[1] != static_cast<int64_t>(value.shape.size())) {
    throw invalid_argument("serialized_sparse has indices of shape {}, {} values and a shape of {} dimensions",
                           value.indices.shape().str(), value.values.elements(), value.shape.size());
  }
  return value;
}

void give(KernelContext& c, SparseValue value) {
  c.set_output(2, Tensor(value.shape));
  c.set_output(1, std::move(value.values));
  c.set_output(0, std::move(value.indices));
}

void infer_deserialize_many(InferContext& c) {
  c.require_rank(0, 2);
  if (c.input(0).has_rank() && c.input(0)[1] != 3 && c.input(0)[1] != kUnknown) {
    throw invalid_argument("serialized_sparse must have 3 columns; its shape is {}", c.input(0).str());
  }
  set_sparse_output(c, 0, kUnknown, kUnknown);
}

void deserialize_many(KernelContext& c) {
  const DType dtype = c.node().type("dtype");
  if (c.shape(0)[0] == 0) throw invalid_argument("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
  std::vector<SparseValue> parts;
  ExpansionAllowance allowance;
  for (int64_t i = 0; i < c.shape(0)[0]; ++i) parts.push_back(read(c.input<std::string>(0), i, dtype, allowance));
  give(c, joined_rows(parts, dtype));
}

void infer_deserialize(InferContext& c) {
  c.require_min_rank(0, 1);
  if (c.input(0).has_rank() && c.input(0)[-1] != 3 && c.input(0)[-1] != kUnknown) {
    throw invalid_argument("Each serialized sparse tensor should have 3 entries; the shape is {}", c.input(0).str());
  }
  set_sparse_output(c, 0, kUnknown, kUnknown);
}

// Of any shape in front of the three strings: the result has these dimensions too.
void deserialize(KernelContext& c) {
  const DType dtype = c.node().type("dtype");
  const Shape& from = c.shape(0);
  ExpansionAllowance allowance;
  if (from.rank() == 1) return give(c, read(c.input<std::string>(0), 0, dtype, allowance));
  std::vector<SparseValue> parts;
  for (int64_t i = 0; i < c.elements(0) / 3; ++i) parts.push_back(read(c.input<std::string>(0), i, dtype, allowance));
  if (parts.empty()) throw invalid_argument("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
  SparseValue all = joined_rows(parts, dtype);
  if (from.rank() > 2) {  // the one dimension of the parts becomes those of the input
    const int64_t depth = from.rank() - 1, inner = static_cast<int64_t>(all.shape.size()) - 1, count = all.indices.shape()[0];
    std::vector<int64_t> rows(static_cast<size_t>(count * (depth + inner)));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t* row = all.indices.data<int64_t>().data() + i * (inner + 1);
      int64_t at = row[0];
      for (int64_t d = depth - 1; d >= 0; --d) {
        rows[static_cast<size_t>(i * (depth + inner) + d)] = at % from[static_cast<int>(d)];
        at /= from[static_cast<int>(d)];
      }
      std::copy_n(row + 1, inner, rows.data() + i * (depth + inner) + depth);
    }
    std::vector<int64_t> dims(from.dims().begin(), from.dims().end() - 1);
    dims.insert(dims.end(), all.shape.begin() + 1, all.shape.end());
    all.indices = index_tensor(rows, count, depth + inner);
    all.shape = dims;
  }
  give(c, std::move(all));
}

}  // namespace

OpDef serialize_sparse_op() {
  return {.name = "SerializeSparse",
          .inputs = "sparse_indices:int64; sparse_values:T; sparse_shape:int64",
          .outputs = "serialized_sparse:out_type",
          .attrs = "T:type; out_type:type{string,variant}=string",
          .infer = infer_one,
          .gradient = not_differentiable,
          .cpu = {.select = [](const NodeView& node) { return only_strings(node, "out_type", serialize); }},
          .host_only = true};
}

OpDef serialize_many_sparse_op() {
  return {.name = "SerializeManySparse",
          .inputs = "sparse_indices:int64; sparse_values:T; sparse_shape:int64",
          .outputs = "serialized_sparse:out_type",
          .attrs = "T:type; out_type:type{string,variant}=string",
          .infer = infer_many,
          .gradient = not_differentiable,
          .cpu = {.select = [](const NodeView& node) { return only_strings(node, "out_type", serialize_many); }},
          .host_only = true};
}

OpDef deserialize_many_sparse_op() {
  return {.name = "DeserializeManySparse",
          .inputs = "serialized_sparse:string",
          .outputs = "sparse_indices:int64; sparse_values:dtype; sparse_shape:int64",
          .attrs = "dtype:type",
          .infer = infer_deserialize_many,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<deserialize_many>},
          .host_only = true};
}

OpDef deserialize_sparse_op() {
  return {.name = "DeserializeSparse",
          .inputs = "serialized_sparse:Tserialized",
          .outputs = "sparse_indices:int64; sparse_values:dtype; sparse_shape:int64",
          .attrs = "dtype:type; Tserialized:type{string,variant}=string",
          .infer = infer_deserialize,
          .gradient = not_differentiable,
          .cpu = {.select = [](const NodeView& node) { return only_strings(node, "Tserialized", deserialize); }},
          .host_only = true};
}

}  // namespace weir::ops
