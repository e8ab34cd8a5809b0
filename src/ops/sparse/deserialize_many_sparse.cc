#include "base/errors.h"
#include "ops/sparse/serialized.h"
#include "ops/sparse/sparse.h"
#include "tensor/tensor_proto.h"

// Sparse tensors as strings: messages of indices, values and shape.
namespace weir::ops {
namespace {

// Part `which` (indices, values or shape) of sparse tensor `row`.
Tensor parsed(const std::string* texts, int64_t row, int which, DType dtype, ExpansionAllowance& allowance) {
  proto::TensorProto message;
  if (!message.ParseFromString(texts[3 * row + which])) {
    throw invalid_argument("Could not parse serialized_sparse[{}, {}]", row, which);
  }
  Tensor tensor = tensor_from_proto(message, allowance);
  constexpr std::string_view kNames[] = {"indices", "values", "shape"};
  if (tensor.dtype() != dtype) {
    throw invalid_argument("Requested SparseTensor of type {} but SparseTensor[{}].{}.dtype() == {}", dtype_name(dtype),
                           row, kNames[which], dtype_name(tensor.dtype()));
  }
  const int rank = which == 0 ? 2 : 1;
  if (tensor.shape().rank() != rank) {
    throw invalid_argument("Expected serialized_sparse[{}, {}] to represent {} of rank {} but received shape {}", row,
                           which, kNames[which], rank, tensor.shape().str());
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
  if (c.shape(0)[0] == 0)
    throw invalid_argument("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
  std::vector<SparseValue> parts;
  ExpansionAllowance allowance;
  for (int64_t i = 0; i < c.shape(0)[0]; ++i) parts.push_back(read(c.input<std::string>(0), i, dtype, allowance));
  give(c, joined_rows(parts, dtype));
}

}  // namespace

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

}  // namespace weir::ops
