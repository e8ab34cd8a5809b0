#include <algorithm>
#include <map>
#include <mutex>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"
#include "tensor/elements.h"

namespace weir::ops {
namespace {

// Sparse tensors that wait while their handles go through a queue. Thread-safe.
class SparseTensorsMap final : public Resource {
 public:
  struct Sparse {
    Tensor indices, values;      // rows of coordinates, and the elements there
    std::vector<int64_t> shape;  // of the dense tensor
  };
  explicit SparseTensorsMap(std::string name) : name_(std::move(name)) {}
  std::string describe() const override { return fmt::format("map of sparse tensors '{}'", name_); }

  int64_t add(Sparse tensor) {
    std::lock_guard lock(mutex_);
    tensors_.emplace(next_, std::move(tensor));
    return next_++;
  }
  Sparse take(int64_t handle) {
    std::lock_guard lock(mutex_);
    auto found = tensors_.find(handle);
    if (found == tensors_.end()) throw invalid_argument("Unable to find SparseTensor: {} in map: {}", handle, name_);
    Sparse tensor = std::move(found->second);
    tensors_.erase(found);
    return tensor;
  }

 private:
  const std::string name_;
  std::mutex mutex_;
  std::map<int64_t, Sparse> tensors_;  // both guarded by mutex_
  int64_t next_ = 0;
};

struct State {
  ResourcePtr<SparseTensorsMap> map;
};
State prepare(PrepareContext& c) {
  return {c.named_resource<SparseTensorsMap>(
      [&](const std::string& name) { return make_resource<SparseTensorsMap>(name); })};
}

void infer_parts(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 1);
  c.require_rank(2, 1);
}
void infer_add(InferContext& c) {
  infer_parts(c);
  c.set_output(0, Shape{});
}
void infer_add_many(InferContext& c) {
  infer_parts(c);
  c.set_output(0, Shape{kUnknown});
}
void infer_take(InferContext& c) {
  c.require_rank(0, 1);
  c.set_output(0, Shape{kUnknown, kUnknown});
  c.set_output(1, Shape{kUnknown});
  c.set_output(2, Shape{kUnknown});
}

void check_parts(KernelContext& c) {
  if (c.shape(0).dim(0) != c.shape(1).dim(0)) {
    throw invalid_argument("Number of values must match first dimension of indices. Got {} values, indices shape: {}",
                           c.shape(1).dim(0), c.shape(0).str());
  }
  if (c.shape(0).dim(1) != c.elements(2)) {
    throw invalid_argument("Rank of input SparseTensor is {}, but its indices have {} columns", c.elements(2),
                           c.shape(0).dim(1));
  }
}

void add(KernelContext& c) {
  check_parts(c);
  const int64_t* shape = c.input<int64_t>(2);
  *c.output<int64_t>() = c.state<State>().map->add(
      {c.input_tensor(0), c.input_tensor(1), std::vector<int64_t>(shape, shape + c.elements(2))});
}

// The rows of a sparse tensor, whose indices are in order, one by one.
void add_many(KernelContext& c) {
  check_parts(c);
  const int64_t rank = c.elements(2), count = c.shape(0).dim(0);
  if (rank < 2) throw invalid_argument("Rank of input SparseTensor should be > 1, but saw rank: {}", rank);
  const int64_t* shape = c.input<int64_t>(2);
  const int64_t* indices = c.input<int64_t>(0);
  if (shape[0] < 0 || shape[0] > (int64_t{1} << 40)) throw invalid_argument("the shape has {} rows", shape[0]);
  const std::vector<int64_t> row_shape(shape + 1, shape + rank);
  const Tensor values = c.input_view(1);
  Tensor handles(DType::Int64, Shape{shape[0]});
  int64_t at = 0;
  for (int64_t row = 0; row < shape[0]; ++row) {
    const int64_t begin = at;
    while (at < count && indices[at * rank] == row) ++at;
    SparseTensorsMap::Sparse part{Tensor(DType::Int64, Shape{at - begin, rank - 1}),
                                  Tensor(values.dtype(), Shape{at - begin}), row_shape};
    for (int64_t i = begin; i < at; ++i) {
      std::copy_n(indices + i * rank + 1, rank - 1, part.indices.mutable_data<int64_t>() + (i - begin) * (rank - 1));
    }
    copy_elements(values.dtype(),
                  static_cast<const char*>(values.raw()) + begin * static_cast<int64_t>(dtype_size(values.dtype())),
                  part.values.mutable_raw(), at - begin);
    handles.mutable_data<int64_t>()[row] = c.state<State>().map->add(std::move(part));
  }
  if (at != count) {
    throw invalid_argument("the indices of the rows are out of order, or outside of the {} rows", shape[0]);
  }
  c.set_output(0, handles);
}

void take(KernelContext& c) {
  std::vector<SparseTensorsMap::Sparse> parts;
  int64_t count = 0;
  for (int64_t i = 0; i < c.elements(0); ++i) {
    parts.push_back(c.state<State>().map->take(c.input<int64_t>(0)[i]));
    if (parts.back().shape.size() != parts[0].shape.size()) {
      throw invalid_argument(
          "Inconsistent rank across SparseTensors: rank prior to SparseTensor[{}] was: {} but rank of SparseTensor[{}] "
          "is: {}",
          i, parts[0].shape.size() + 1, i, parts.back().shape.size() + 1);  // with the dimension that is new
    }
    count += parts.back().values.elements();
  }
  const int64_t rank = parts.empty() ? 0 : static_cast<int64_t>(parts[0].shape.size());
  const DType dtype = c.node().type("dtype");
  Tensor indices(DType::Int64, Shape{count, rank + 1}), values(dtype, Shape{count}),
      shape(DType::Int64, Shape{rank + 1});
  std::fill_n(shape.mutable_data<int64_t>(), rank + 1, 0);
  shape.mutable_data<int64_t>()[0] = c.elements(0);
  int64_t at = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    const SparseTensorsMap::Sparse& part = parts[p];
    if (part.values.dtype() != dtype) {
      throw invalid_argument("Requested SparseTensor of type {} but SparseTensor[{}].values.dtype() == {}",
                             dtype_name(dtype), p, dtype_name(part.values.dtype()));
    }
    for (int64_t i = 0; i < part.values.elements(); ++i, ++at) {
      int64_t* to = indices.mutable_data<int64_t>() + at * (rank + 1);
      to[0] = static_cast<int64_t>(p);
      std::copy_n(part.indices.data<int64_t>().data() + i * rank, rank, to + 1);
    }
    const int64_t begin = at - part.values.elements();
    copy_elements(dtype, part.values.raw(),
                  static_cast<char*>(values.mutable_raw()) + begin * static_cast<int64_t>(dtype_size(dtype)),
                  part.values.elements());
    for (size_t d = 0; d < part.shape.size(); ++d) {
      int64_t& size = shape.mutable_data<int64_t>()[d + 1];
      size = std::max(size, part.shape[d]);
    }
  }
  c.set_output(0, indices);
  c.set_output(1, values);
  c.set_output(2, shape);
}

OpDef add_row(std::string_view name, std::string_view outputs, void (*infer)(InferContext&),
              ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .inputs = "sparse_indices:int64; sparse_values:T; sparse_shape:int64",
          .outputs = outputs,
          .attrs = "T:type; container:string=''; shared_name:string=''",
          .flags = "stateful",
          .host = outputs == "sparse_handle:int64" ? "sparse_indices, sparse_values, sparse_shape, sparse_handle"
                                                   : "sparse_indices, sparse_values, sparse_shape, sparse_handles",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select, .prepare = prepared<prepare>}};
}

}  // namespace

OpDef add_sparse_to_tensors_map_op() {
  return add_row("AddSparseToTensorsMap", "sparse_handle:int64", infer_add, kernel_any<add>);
}
OpDef add_many_sparse_to_tensors_map_op() {
  OpDef def = add_row("AddManySparseToTensorsMap", "sparse_handles:int64", infer_add_many, kernel_any<add_many>);
  def.cpu.gives_outputs = true;
  return def;
}
OpDef take_many_sparse_from_tensors_map_op() {
  return {.name = "TakeManySparseFromTensorsMap",
          .inputs = "sparse_handles:int64",
          .outputs = "sparse_indices:int64; sparse_values:dtype; sparse_shape:int64",
          .attrs = "dtype:type; container:string=''; shared_name:string=''",
          .flags = "stateful",
          .host = "sparse_handles, sparse_indices, sparse_values, sparse_shape",
          .infer = infer_take,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<take>, .prepare = prepared<prepare>, .gives_outputs = true}};
}

}  // namespace weir::ops
