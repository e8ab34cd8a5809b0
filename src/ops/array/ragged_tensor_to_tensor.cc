#include "graph/infer_context.h"
#include "ops/array/element_type.h"
#include "ops/array/ragged.h"
#include "ops/array/strided_copy.h"

namespace weir::ops {
namespace {

enum class Partition { FirstDimSize, RowIds, RowSplits };

std::vector<Partition> partitions_of(const AttrMap& attrs) {
  std::vector<Partition> types;
  for (const std::string& name : attrs.get<std::vector<std::string>>("row_partition_types")) {
    if (name == "FIRST_DIM_SIZE") {
      types.push_back(Partition::FirstDimSize);
    } else if (name == "VALUE_ROWIDS") {
      types.push_back(Partition::RowIds);
    } else if (name == "ROW_SPLITS") {
      types.push_back(Partition::RowSplits);
    } else {
      throw invalid_argument("Unknown string for partition info type: {}", name);
    }
  }
  return types;
}

// How many dimensions are ragged. Throws InvalidArgument for partitions that make no sense.
int ragged_rank(const std::vector<Partition>& types, int inputs) {
  if (types.empty()) throw invalid_argument("No row_partition_types given.");
  if (static_cast<int>(types.size()) != inputs) {
    throw invalid_argument("{} row_partition_types are given for {} tensors", types.size(), inputs);
  }
  if (types[0] == Partition::RowIds) throw invalid_argument("Cannot handle VALUE_ROWIDS in first dimension.");
  for (size_t i = 1; i < types.size(); ++i) {
    if (types[i] == Partition::FirstDimSize) throw invalid_argument("Cannot handle partition type FIRST_DIM_SIZE");
  }
  return static_cast<int>(types.size()) - (types[0] == Partition::FirstDimSize ? 1 : 0);
}

// The shape that the program wants, with what follows from the values filled in; unknown sizes follow from the rows.
Shape combined(const Shape& wanted, const Shape& values, int ragged) {
  const int rank = ragged + values.rank();
  if (!wanted.has_rank()) {
    Shape shape = Shape::unknown_dims(rank);
    for (int i = 1; i < values.rank(); ++i) shape.set_dim(ragged + i, values[i]);
    return shape;
  }
  if (wanted.rank() != rank) {
    throw invalid_argument("rt_input.shape and shape={} are incompatible: rt_input.rank = {} but shape.rank = {}",
                           wanted.str(), rank, wanted.rank());
  }
  Shape shape = wanted;
  for (int i = 1; i < values.rank(); ++i) {
    if (shape[ragged + i] == kUnknown) {
      shape.set_dim(ragged + i, values[i]);
    } else if (values[i] != kUnknown && values[i] != shape[ragged + i]) {
      throw invalid_argument("rt_input.shape and shape={} are incompatible: rt_input.shape[{}] = {} but shape[{}] = {}",
                             wanted.str(), ragged + i, values[i], ragged + i, shape[ragged + i]);
    }
  }
  return shape;
}

void check_default(const Shape& value, const Shape& values) {
  if (!value.has_rank() || !values.has_rank()) return;
  if (value.rank() >= values.rank()) {
    throw invalid_argument(
        "default_value.shape={} and rt_input.flat_values.shape={} are incompatible: default_value.rank = {} must be "
        "less than rt_input.flat_values.rank = {}",
        value.str(), values.str(), value.rank(), values.rank());
  }
  for (int i = 1; i <= value.rank(); ++i) {
    if (value[-i] != kUnknown && values[-i] != kUnknown && value[-i] != 1 && value[-i] != values[-i]) {
      throw invalid_argument("default_value.shape={} and rt_input.flat_values.shape={} are incompatible", value.str(),
                             values.str());
    }
  }
}

Shape shape_of(const KernelContext& c, int input) {
  if (c.shape(input).rank() == 0) {
    if (int_at(c, input) != -1) throw invalid_argument("A scalar shape must be -1");
    return Shape::unknown();
  }
  Shape shape;
  for (int64_t i = 0; i < c.elements(input); ++i) {
    const int64_t size = int_at(c, input, i);
    if (size < -1) throw invalid_argument("shape[{}] = {} is negative", i, size);
    shape.append(size);
  }
  return shape;
}

void infer(InferContext& c) {
  const int ragged = ragged_rank(partitions_of(c.attrs()), c.inputs() - 3);
  const Shape& values = c.input(1);
  c.require_min_rank(1, 1);
  check_default(c.input(2), values);
  if (!values.has_rank()) return;
  const Tensor wanted = c.value(0);
  if (!wanted.valid()) return c.set_output(0, Shape::unknown_dims(ragged + values.rank()));
  const bool any = wanted.shape().rank() == 0;
  // The first size, and those of ragged dimensions, are known where the program says them.
  c.set_output(0, combined(any ? Shape::unknown() : c.value_as_shape(0), values, ragged));
}

// The rows of each ragged dimension as splits, whichever way they are given. `parents` is the number of rows.
std::vector<int64_t> splits_of(const KernelContext& c, int input, Partition type, int64_t parents, int64_t inside) {
  if (type == Partition::RowSplits) {
    std::vector<int64_t> splits = read_splits(c, input, inside);
    if (static_cast<int64_t>(splits.size()) - 1 > parents) {
      throw invalid_argument("Row partition size is greater than output size: {} > {}", splits.size() - 1, parents);
    }
    splits.resize(static_cast<size_t>(parents) + 1, splits.back());
    return splits;
  }
  std::vector<int64_t> splits(static_cast<size_t>(parents) + 1, 0);
  int64_t before = 0;
  for (int64_t i = 0; i < c.elements(input); ++i) {
    const int64_t row = int_at(c, input, i);
    if (row < 0 || row >= parents)
      throw invalid_argument("Got next_value_rowid={} which is not less than {}", row, parents);
    if (row < before) throw invalid_argument("value_rowids must never fall; {} follows {}", row, before);
    before = row;
    ++splits[static_cast<size_t>(row) + 1];
  }
  for (size_t i = 1; i < splits.size(); ++i) splits[i] += splits[i - 1];
  if (splits.back() > inside) throw invalid_argument("{} value_rowids for {} elements", splits.back(), inside);
  return splits;
}

void cpu(KernelContext& c) {
  const std::vector<Partition> types = partitions_of(c.node().attrs());
  const int ragged = ragged_rank(types, c.inputs() - 3), skip = types[0] == Partition::FirstDimSize ? 1 : 0;
  const Shape& values = c.shape(1);
  if (values.rank() < 1) throw invalid_argument("values of a ragged tensor have at least one dimension");
  check_default(c.shape(2), values);
  if (c.elements(3) < 1) throw invalid_argument("Invalid first partition input. Tensor requires at least one element.");
  int64_t rows = skip ? int_at(c, 3) : c.elements(3) - 1;
  if (rows < 0 || rows > (int64_t{1} << 40)) throw invalid_argument("{} rows", rows);
  const int64_t first_rows = rows;
  std::vector<std::vector<int64_t>> levels;
  for (int i = 0; i < ragged; ++i) {
    const int input = 3 + skip + i;
    const bool last = i + 1 == ragged;
    const int64_t inside = last ? values[0]
                           : types[static_cast<size_t>(skip + i + 1)] == Partition::RowSplits
                               ? c.elements(input + 1) - 1
                               : c.elements(input);
    levels.push_back(splits_of(c, input, types[static_cast<size_t>(skip + i)], rows, std::max<int64_t>(inside, 0)));
    rows = levels.back().back();
  }
  Shape to = combined(shape_of(c, 0), values, ragged);
  if (to[0] == kUnknown) to.set_dim(0, first_rows);
  for (int i = 0; i < ragged; ++i) {
    if (to[i + 1] != kUnknown) continue;
    int64_t widest = 0;
    const auto& splits = levels[static_cast<size_t>(i)];
    for (size_t r = 0; r + 1 < splits.size(); ++r) widest = std::max(widest, splits[r + 1] - splits[r]);
    to.set_dim(i + 1, widest);
  }
  // Where the first element of every row stands in the result, level by level; -1: it is cut off.
  std::vector<int64_t> at;
  for (int64_t i = 0; i < first_rows; ++i) at.push_back(i < to[0] ? i : -1);
  for (int d = 0; d < ragged; ++d) {
    std::vector<int64_t> next;
    const auto& splits = levels[static_cast<size_t>(d)];
    const int64_t width = to[d + 1];
    for (size_t r = 0; r + 1 < splits.size(); ++r) {
      for (int64_t j = 0; j < splits[r + 1] - splits[r]; ++j) {
        next.push_back(at[r] < 0 || j >= width ? -1 : at[r] * width + j);
      }
    }
    at = std::move(next);
  }
  Tensor result(c.dtype(1), to);
  int64_t slice = 1;
  for (int i = 1; i < values.rank(); ++i) slice *= values[i];
  const int64_t repeat = std::max<int64_t>(1, c.elements(2));
  if (result.elements() == 0) return c.set_output(0, std::move(result));
  if (c.elements(2) == 0 || slice % repeat != 0) throw invalid_argument("default_value has shape {}", c.shape(2).str());
  with_element_type(c.dtype(1), [&]<class T>(T) {
    T* out = static_cast<T*>(result.mutable_raw());
    const T* filling = c.input<T>(2);
    // A default value of fewer dimensions repeats; sizes of 1 in it stretch.
    const Shape& small = c.shape(2);
    std::vector<int64_t> steps(static_cast<size_t>(small.rank()), 0);
    int64_t step = 1;
    for (int i = small.rank() - 1; i >= 0; --i) {
      steps[static_cast<size_t>(i)] = small[i] == 1 ? 0 : step;
      step *= small[i];
    }
    for (int64_t i = 0; i < result.elements(); ++i) {
      int64_t rest = i % slice, from = 0;
      for (int d = 1; d <= small.rank(); ++d) {
        from += rest % values[-d] * steps[static_cast<size_t>(small.rank() - d)];
        rest /= values[-d];
      }
      out[i] = filling[from];
    }
    for (size_t i = 0; i < at.size(); ++i) {
      if (at[i] >= 0) std::copy_n(c.input<T>(1) + static_cast<int64_t>(i) * slice, slice, out + at[i] * slice);
    }
  });
  c.set_output(0, std::move(result));
}

}  // namespace

OpDef ragged_tensor_to_tensor_op() {
  return {.name = "RaggedTensorToTensor",
          .inputs = "shape:Tshape; values:T; default_value:T; row_partition_tensors:num_row_partition_tensors*Tindex",
          .outputs = "result:T",
          .attrs =
              "T:type; Tindex:type{int64,int32}; Tshape:type{int64,int32}; num_row_partition_tensors:int>=1; "
              "row_partition_types:list(string)",
          .host = "shape",
          .infer = infer,
          .cpu = {.select = kernel_moving<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
