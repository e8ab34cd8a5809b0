#include <limits>
#include <unordered_map>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/checkpoint.h"

// A matrix of a checkpoint with its rows and columns in another order; rows and columns that it has not are filled from
// a list of values.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  c.require_rank(2, 1);
  c.require_rank(3, 1);
  const Shape& path = c.input(0);
  if (path.is_known() && path.elements() != 1) {
    throw invalid_argument("The `ckpt_path` tensor must have exactly one element, got tensor of shape {}", path.str());
  }
  const int64_t rows = c.attr<int64_t>("num_rows"), columns = c.attr<int64_t>("num_cols");
  const Shape &row_ids = c.input(2), &column_ids = c.input(3);
  if (row_ids.is_known() && row_ids.elements() != rows) {
    throw invalid_argument("Size of row_remapping is {} instead of being equal to num_rows={}", row_ids.elements(),
                           rows);
  }
  if (column_ids.is_known() && column_ids.elements() != 0 && column_ids.elements() != columns) {
    throw invalid_argument("Provided col_remapping, but its size is {} instead of being equal to num_cols={}",
                           column_ids.elements(), columns);
  }
  c.set_output(0, Shape{rows, columns});
}

// New places by old ones. Throws Unimplemented when an old one has several.
std::unordered_map<int64_t, int64_t> places_of(const KernelContext& c, int input) {
  std::unordered_map<int64_t, int64_t> places;
  for (int64_t i = 0; i < c.elements(input); ++i) {
    const int64_t old = c.input<int64_t>(input)[i];
    if (old < 0) continue;
    const auto [place, is_new] = places.emplace(old, i);
    if (!is_new)
      throw error(Code::Unimplemented, "Old ID {} is mapped to both new ID {} and {}, which is not supported.", old,
                  place->second, i);
  }
  return places;
}

// The matrix of the checkpoint, after what is said of it has been checked.
const train::CheckpointTensor& matrix_of(const train::CheckpointReader& reader, const std::string& name,
                                         bool any_columns, int64_t columns) {
  const train::CheckpointTensor* found = reader.find(name);
  if (!found) throw error(Code::NotFound, "Key {} not found in checkpoint", name);
  if (found->dtype != DType::Float32)
    throw invalid_argument("Tensor {} has invalid type {} instead of expected type float", name,
                           dtype_name(found->dtype));
  if (found->shape.rank() != 2) {
    throw invalid_argument("Tensor {} has shape {} of invalid rank {} instead of expected shape of rank 2.", name,
                           found->shape.str(), found->shape.rank());
  }
  if (!any_columns && found->shape[1] != columns) {
    throw invalid_argument(
        "Tensor {} has shape {}, where the size of its 2nd dimension is {} instead of being equal to num_cols={}", name,
        found->shape.str(), found->shape[1], columns);
  }
  return *found;
}

// Reads rows [first, last) in pieces of at most so many, and calls copy(row, elements).
template <class Copy>
void for_each_row(const train::CheckpointReader& reader, const train::CheckpointTensor& matrix, int64_t first,
                  int64_t last, int64_t piece, const Copy& copy) {
  if (last > matrix.shape[0])
    throw error(Code::Internal, "Extent in dimension 0 out of bounds: row {} is wanted of {}, shape = {}", last - 1,
                matrix.name, matrix.shape.str());
  if (piece <= 0) piece = last - first;
  for (int64_t row = first; row < last;) {
    const int64_t rows = std::min(piece, last - row);
    const Tensor part =
        reader.get_slice(matrix.name, fmt::format("{} {} {},{}:-", matrix.shape[0], matrix.shape[1], row, rows));
    for (int64_t i = 0; i < rows; ++i) copy(row + i, part.data<float>().data() + i * matrix.shape[1]);
    row += rows;
  }
}

// Fills the cells that no row or column of the checkpoint stands behind, in order, with all of the values.
void fill_missing(KernelContext& c, bool any_columns) {
  const Shape& shape = c.output_shape();
  const auto* values = c.input<float>(4);
  int64_t used = 0;
  for (int64_t i = 0; i < shape[0]; ++i) {
    for (int64_t j = 0; j < shape[1]; ++j) {
      if (c.input<int64_t>(2)[i] >= 0 && (!any_columns || c.input<int64_t>(3)[j] >= 0)) continue;
      if (used >= c.elements(4))
        throw invalid_argument("initializing_values contained {} elements, but more missing values remain.",
                               c.elements(4));
      c.output<float>()[i * shape[1] + j] = values[used++];
    }
  }
  if (used != c.elements(4)) {
    throw invalid_argument(
        "initializing_values contained {} elements, but only {} elements were used to fill in missing values.",
        c.elements(4), used);
  }
}

void cpu(KernelContext& c) {
  const auto rows = places_of(c, 2), columns = places_of(c, 3);
  const bool any_columns = c.elements(3) > 0;
  const int64_t width = c.output_shape()[1];
  const train::CheckpointReader reader(c.scalar<std::string>(0));
  const train::CheckpointTensor& matrix = matrix_of(reader, c.scalar<std::string>(1), any_columns, width);
  int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
  for (const auto& [old, place] : rows) {
    first = std::min(first, old);
    last = std::max(last, old < std::numeric_limits<int64_t>::max() ? old + 1 : old);
  }
  for_each_row(reader, matrix, std::min(first, last), last, c.node().attr<int64_t>("max_rows_in_memory"),
               [&](int64_t old, const float* from) {
                 const auto row = rows.find(old);
                 if (row == rows.end()) return;
                 float* to = c.output<float>() + row->second * width;
                 if (!any_columns) {
                   std::copy_n(from, width, to);
                   return;
                 }
                 for (const auto& [column, place] : columns) {
                   if (column < matrix.shape[1]) to[place] = from[column];
                 }
               });
  for (const auto& [column, place] : columns) {
    if (column >= matrix.shape[1])
      throw error(Code::OutOfRange, "column {} is wanted of {}, whose shape is {}", column, matrix.name,
                  matrix.shape.str());
  }
  fill_missing(c, any_columns);
}

}  // namespace

OpDef load_and_remap_matrix_op() {
  return {.name = "LoadAndRemapMatrix",
          .inputs =
              "ckpt_path:string; old_tensor_name:string; row_remapping:int64; col_remapping:int64; "
              "initializing_values:float",
          .outputs = "output_matrix:float",
          .attrs = "num_rows:int>=0; num_cols:int>=1; max_rows_in_memory:int=-1",
          .flags = "stateful",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
