#include <algorithm>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"
#include "tensor/elements.h"
#include "tensor/tensor_proto.h"
#include "tensor/tensor_variant.h"

// Sparse tensors as three elements of one tensor, so that data sets and batches can carry them.
namespace weir::ops {
namespace {

// Writes a part of a sparse tensor as element `at` of `out`.
void put(Tensor& out, int64_t at, Tensor part) {
  if (out.dtype() == DType::Variant) {
    static_cast<Variant*>(out.mutable_raw())[at] = std::make_shared<const TensorVariant>(std::move(part));
    return;
  }
  proto::TensorProto message;
  tensor_to_proto(part, message);
  out.mutable_data<std::string>()[at] = message.SerializeAsString();
}

Tensor get(const Tensor& serialized, int64_t at, DType wanted, int rank) {
  Tensor part;
  if (serialized.dtype() == DType::Variant) {
    const auto* variant = dynamic_cast<const TensorVariant*>(static_cast<const Variant*>(serialized.raw())[at].get());
    if (!variant) throw invalid_argument("Could not get a part of a sparse tensor: the variant is none");
    part = variant->tensor();
  } else {
    proto::TensorProto message;
    if (!message.ParseFromString(serialized.data<std::string>()[static_cast<size_t>(at)])) {
      throw invalid_argument("Could not parse serialized_sparse[{}]", at);
    }
    ExpansionAllowance allowance;
    part = tensor_from_proto(message, allowance);
  }
  if (part.dtype() != wanted) {
    throw invalid_argument("Requested SparseTensor of type {} but SparseTensor[{}].values.dtype() == {}",
                           dtype_name(wanted), at / 3, dtype_name(part.dtype()));
  }
  if (part.shape().rank() != rank) {
    throw invalid_argument("Expected serialized_sparse[{}] to represent a tensor of rank {} but received shape {}", at,
                           rank, part.shape().str());
  }
  return part;
}

void check_parts(const KernelContext& c) {
  if (c.shape(0).rank() != 2)
    throw invalid_argument("Input indices should be a matrix but received shape {}", c.shape(0).str());
  if (c.shape(1).rank() != 1)
    throw invalid_argument("Input values should be a vector but received shape {}", c.shape(1).str());
  if (c.shape(2).rank() != 1)
    throw invalid_argument("Input shape should be a vector but received shape {}", c.shape(2).str());
  if (c.shape(0)[0] != c.shape(1)[0] || c.shape(0)[1] != c.shape(2)[0]) {
    throw invalid_argument("indices {}, values {} and shape {} do not belong together", c.shape(0).str(),
                           c.shape(1).str(), c.shape(2).str());
  }
}

void serialize(KernelContext& c) {
  check_parts(c);
  Tensor out(c.node().type("out_type"), Shape{3});
  for (int i = 0; i < 3; ++i) put(out, i, c.input_tensor(i));
  c.set_output(0, std::move(out));
}

// Each row of the first dimension by itself.
void serialize_many(KernelContext& c) {
  check_parts(c);
  const int64_t rank = c.elements(2), count = c.elements(1);
  if (rank <= 1) throw invalid_argument("Rank of input SparseTensor should be > 1, but saw rank: {}", rank);
  const auto* indices = c.input<int64_t>(0);
  const auto* sizes = c.input<int64_t>(2);
  if (sizes[0] < 0 || sizes[0] > (int64_t{1} << 32)) throw invalid_argument("the first dimension is {}", sizes[0]);
  const Tensor values = c.input_tensor(1);
  Tensor out(c.node().type("out_type"), Shape{sizes[0], 3});
  int64_t at = 0;
  for (int64_t row = 0; row < sizes[0]; ++row) {
    int64_t end = at;
    while (end < count && indices[end * rank] == row) ++end;
    Tensor places(DType::Int64, Shape{end - at, rank - 1}), part(values.dtype(), Shape{end - at}),
        shape(DType::Int64, Shape{rank - 1});
    auto* to = places.mutable_data<int64_t>();
    for (int64_t i = at; i < end; ++i) to = std::copy(indices + i * rank + 1, indices + (i + 1) * rank, to);
    copy_elements(values.dtype(),
                  static_cast<const char*>(values.raw()) + static_cast<size_t>(at) * dtype_size(values.dtype()),
                  part.mutable_raw(), end - at);
    std::copy(sizes + 1, sizes + rank, shape.mutable_data<int64_t>());
    put(out, row * 3, std::move(places));
    put(out, row * 3 + 1, std::move(part));
    put(out, row * 3 + 2, std::move(shape));
    at = end;
  }
  if (at < count) {
    throw invalid_argument(
        "Received unexpected column 0 value in input SparseTensor: {} < 0 or >= N (= {}), or out of order",
        indices[at * rank], sizes[0]);
  }
  c.set_output(0, std::move(out));
}

void deserialize(KernelContext& c) {
  const Tensor serialized = c.input_tensor(0);
  const Shape& shape = serialized.shape();
  const DType dtype = c.node().type("dtype");
  if (shape.rank() < 1)
    throw invalid_argument("Serialized sparse should have non-zero rank but received shape {}", shape.str());
  if (shape[shape.rank() - 1] != 3) {
    throw invalid_argument("Serialized sparse should have 3 as the last dimension but received shape {}", shape.str());
  }
  const int outer = shape.rank() - 1;
  const int64_t parts = serialized.elements() / 3;
  if (parts == 0) throw invalid_argument("serialized_sparse must have at least one element");
  std::vector<Tensor> indices, values;
  std::vector<int64_t> sizes;
  int64_t count = 0;
  for (int64_t p = 0; p < parts; ++p) {
    indices.push_back(get(serialized, p * 3, DType::Int64, 2));
    values.push_back(get(serialized, p * 3 + 1, dtype, 1));
    const Tensor own = get(serialized, p * 3 + 2, DType::Int64, 1);
    const auto dims = own.data<int64_t>();
    if (p == 0) sizes.assign(dims.begin(), dims.end());
    if (dims.size() != sizes.size()) {
      throw invalid_argument(
          "Inconsistent rank across SparseTensors: rank prior to SparseTensor[{}] was: {} but rank of "
          "SparseTensor[{}] is: {}",
          p, sizes.size(), p, dims.size());
    }
    for (size_t d = 0; d < dims.size(); ++d) sizes[d] = std::max(sizes[d], dims[d]);
    if (indices.back().shape()[0] != values.back().elements() ||
        indices.back().shape()[1] != static_cast<int64_t>(sizes.size())) {
      throw invalid_argument("the parts of SparseTensor[{}] do not belong together", p);
    }
    count += values.back().elements();
  }
  const auto inner = static_cast<int64_t>(sizes.size()), rank = outer + inner;
  Tensor all_indices(DType::Int64, Shape{count, rank}), all_values(dtype, Shape{count}),
      dense(DType::Int64, Shape{rank});
  auto* index = all_indices.mutable_data<int64_t>();
  auto* value = static_cast<char*>(all_values.mutable_raw());
  for (int64_t p = 0; p < parts; ++p) {
    const auto& own = indices[static_cast<size_t>(p)];
    const auto* from = static_cast<const int64_t*>(own.raw());
    const int64_t entries = own.shape()[0];
    for (int64_t i = 0; i < entries; ++i, index += rank) {
      int64_t rest = p;
      for (int d = outer - 1; d >= 0; --d) {
        index[d] = rest % shape[d];
        rest /= shape[d];
      }
      std::copy(from + i * inner, from + (i + 1) * inner, index + outer);
    }
    copy_elements(dtype, values[static_cast<size_t>(p)].raw(), value, entries);
    value += static_cast<size_t>(entries) * dtype_size(dtype);
  }
  auto* size = dense.mutable_data<int64_t>();
  for (int d = 0; d < outer; ++d) *size++ = shape[d];
  std::copy(sizes.begin(), sizes.end(), size);
  c.set_output(0, std::move(all_indices));
  c.set_output(1, std::move(all_values));
  c.set_output(2, std::move(dense));
}

void infer_parts(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 1);
  c.require_rank(2, 1);
}
void infer_serialize(InferContext& c) {
  infer_parts(c);
  c.set_output(0, {3});
}
void infer_serialize_many(InferContext& c) {
  infer_parts(c);
  c.set_output(0, {kUnknown, 3});
}
void infer_deserialize(InferContext& c) {
  c.require_min_rank(0, 1);
  c.set_output(0, {kUnknown, kUnknown});
  c.set_output(1, {kUnknown});
  c.set_output(2, {kUnknown});
}

OpDef row(std::string_view name, void (*infer)(InferContext&), ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .inputs = "sparse_indices:int64; sparse_values:T; sparse_shape:int64",
          .outputs = "serialized_sparse:out_type",
          .attrs = "T:type; out_type:type{string,variant}=string",
          .host = "sparse_indices, sparse_values, sparse_shape, serialized_sparse",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select, .gives_outputs = true},
          .host_only = true};
}

}  // namespace

OpDef serialize_sparse_op() { return row("SerializeSparse", infer_serialize, kernel_any<serialize>); }
OpDef serialize_many_sparse_op() {
  return row("SerializeManySparse", infer_serialize_many, kernel_any<serialize_many>);
}
OpDef deserialize_sparse_op() {
  return {.name = "DeserializeSparse",
          .inputs = "serialized_sparse:Tserialized",
          .outputs = "sparse_indices:int64; sparse_values:dtype; sparse_shape:int64",
          .attrs = "dtype:type; Tserialized:type{string,variant}=string",
          .host = "serialized_sparse, sparse_indices, sparse_values, sparse_shape",
          .infer = infer_deserialize,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<deserialize>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
