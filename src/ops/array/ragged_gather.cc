#include "graph/infer_context.h"
#include "ops/array/element_type.h"
#include "ops/array/gather_common.h"
#include "ops/array/ragged.h"
#include "ops/array/strided_copy.h"

namespace weir::ops {

Tensor copy_rows(const Tensor& values, int64_t begin, int64_t end) {
  Shape shape = values.shape();
  const int64_t width = shape[0] == 0 ? 0 : values.elements() / shape[0];
  shape.set_dim(0, end - begin);
  Tensor part(values.dtype(), shape);
  with_element_type(values.dtype(), [&]<class T>(T) {
    std::copy_n(static_cast<const T*>(values.raw()) + begin * width, part.elements(),
                static_cast<T*>(part.mutable_raw()));
  });
  return part;
}

Tensor join_rows(const std::vector<Tensor>& parts) {
  Shape shape = parts.at(0).shape();
  int64_t rows = 0;
  for (const Tensor& part : parts) {
    Shape row = part.shape();
    if (row.rank() != shape.rank() || row.rank() < 1) {
      throw invalid_argument("values of ragged components have shapes {} and {}", shape.str(), row.str());
    }
    rows += row[0];
    row.set_dim(0, shape[0]);
    if (row != shape || part.dtype() != parts[0].dtype()) {
      throw invalid_argument("values of ragged components have shapes {} and {}", shape.str(), part.shape().str());
    }
  }
  shape.set_dim(0, rows);
  Tensor all(parts[0].dtype(), shape);
  with_element_type(all.dtype(), [&]<class T>(T) {
    T* to = static_cast<T*>(all.mutable_raw());
    for (const Tensor& part : parts) to = std::copy_n(static_cast<const T*>(part.raw()), part.elements(), to);
  });
  return all;
}

namespace {

int params_rank(const AttrMap& attrs) { return static_cast<int>(attrs.get<int64_t>("PARAMS_RAGGED_RANK")); }

void infer(InferContext& c) {
  const int rank = params_rank(c.attrs()), out_rank = static_cast<int>(c.attr<int64_t>("OUTPUT_RAGGED_RANK"));
  const Shape &values = c.input(rank), &indices = c.input(rank + 1);
  for (int i = 0; i < rank; ++i) c.require_rank(i, 1);
  if (indices.has_rank() && out_rank != rank + indices.rank() - 1) {
    throw invalid_argument("OUTPUT_RAGGED_RANK must equal indices.ndims + PARAMS_RAGGED_RANK - 1 = {}, not {}",
                           rank + indices.rank() - 1, out_rank);
  }
  for (int i = 0; i < out_rank; ++i) c.set_output(i, Shape{kUnknown});
  if (values.has_rank()) {
    if (values.rank() < 1) throw invalid_argument("params.rank must be nonzero");
    Shape to = values;
    to.set_dim(0, kUnknown);
    c.set_output(out_rank, to);
  }
}

// Rows by rows: the pieces that are taken at each level are those that the next level begins with.
void cpu(KernelContext& c) {
  const int rank = params_rank(c.node().attrs());
  const Tensor values = c.input_view(rank);
  const auto nested = read_nested_splits(c, 0, rank, values.shape()[0]);
  const Shape& indices = c.shape(rank + 1);
  const DType type = c.node().type("Tsplits");
  if (c.outputs() - 1 != rank + indices.rank() - 1) {
    throw invalid_argument("OUTPUT_RAGGED_RANK must equal indices.ndims + PARAMS_RAGGED_RANK - 1 = {}, not {}",
                           rank + indices.rank() - 1, c.outputs() - 1);
  }
  int output = 0;
  // Dimensions of the indices, all but the last, become ragged ones of equal rows.
  for (int d = 0; d + 1 < indices.rank(); ++d) {
    const int64_t rows = product(indices, 0, d + 1);
    std::vector<int64_t> splits;
    for (int64_t i = 0; i <= rows; ++i) splits.push_back(i * indices[d + 1]);
    c.set_output(output++, splits_tensor(splits, type));
  }
  std::vector<std::pair<int64_t, int64_t>> pieces;
  const int64_t limit = static_cast<int64_t>(nested[0].size()) - 1;
  for (int64_t i = 0; i < c.elements(rank + 1); ++i) {
    const int64_t index = int_at(c, rank + 1, i);
    if (index < 0 || index >= limit) index_out_of_range(indices, i, index, limit);
    pieces.emplace_back(index, index + 1);
  }
  for (const std::vector<int64_t>& level : nested) {
    std::vector<int64_t> splits{0};
    for (auto& [begin, end] : pieces) {
      for (int64_t row = begin; row < end; ++row) {
        const auto at = static_cast<size_t>(row);
        splits.push_back(checked_add(splits.back(), level[at + 1] - level[at]));
      }
      const int64_t first = level[static_cast<size_t>(begin)], last = level[static_cast<size_t>(end)];
      begin = first;
      end = last;
    }
    c.set_output(output++, splits_tensor(splits, type));
  }
  Shape to = values.shape();
  const int64_t width = to[0] == 0 ? 0 : values.elements() / to[0];
  int64_t rows = 0;
  for (const auto& [begin, end] : pieces) rows = checked_add(rows, end - begin);
  to.set_dim(0, rows);
  Tensor result(values.dtype(), to);
  with_element_type(values.dtype(), [&]<class T>(T) {
    T* out = static_cast<T*>(result.mutable_raw());
    for (const auto& [begin, end] : pieces) {
      out = std::copy_n(static_cast<const T*>(values.raw()) + begin * width, (end - begin) * width, out);
    }
  });
  c.set_output(output, std::move(result));
}

struct AttrTvalues {
  static constexpr std::string_view name = "Tvalues";
};

}  // namespace

OpDef ragged_gather_op() {
  return {.name = "RaggedGather",
          .inputs = "params_nested_splits:PARAMS_RAGGED_RANK*Tsplits; params_dense_values:Tvalues; indices:Tindices",
          .outputs = "output_nested_splits:OUTPUT_RAGGED_RANK*Tsplits; output_dense_values:Tvalues",
          .attrs =
              "Tvalues:type; Tindices:type{int32,int64}; Tsplits:type{int32,int64}=int64; PARAMS_RAGGED_RANK:int>=1; "
              "OUTPUT_RAGGED_RANK:int>=0",
          .infer = infer,
          .cpu = {.select = kernel_moving<cpu, AttrTvalues>, .gives_outputs = true}};
}

}  // namespace weir::ops
