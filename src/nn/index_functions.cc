#include "nn/convert.h"
#include "weir/index_ops.h"
#include "weir/ops.h"

namespace weir {

using nn::as_output;
using nn::graph_of;

Output sequence_mask(const In& lengths, const std::optional<In>& maxlen, DType dtype, std::string_view name) {
  Graph& g = graph_of(lengths);
  LineScope line(g, source_line(lengths.where()));
  Scope scope = g.name_scope(name.empty() ? "SequenceMask" : name);
  Output sizes = as_output(g, lengths, int32, "Const");
  auto number = [&](int value, DType type) { return g.constant(Literal(value), type); };
  Output limit;
  if (maxlen) {
    limit = as_output(g, *maxlen, int32, "Const");
  } else {
    limit = reduce_max(sizes);
    limit = maximum(number(0, limit.dtype()), limit);
  }
  Output start = number(0, limit.dtype()), step = number(1, limit.dtype());
  Output row = range(start, limit, step, "Range");
  Output column = expand_dims(sizes, -1);
  Output matrix = NodeBuilder("Cast").input(column).attr("DstT", limit.dtype()).output();
  Output mask = less(row, matrix);
  return cast(mask, dtype);
}

Output boolean_mask(const In& tensor, const In& mask, int axis, std::string_view name) {
  Graph& g = graph_of(tensor, mask);
  LineScope line(g, source_line(tensor.where()));
  Scope scope = g.name_scope(name.empty() ? "boolean_mask" : name);
  Output x = as_output(g, tensor, float32, "tensor"), m = as_output(g, mask, boolean, "mask");
  if (!m.shape().has_rank()) {
    throw invalid_argument("Number of mask dimensions must be specified, even if some sizes are not known: '{}'",
                           m.name());
  }
  const int rank = m.shape().rank();
  if (rank == 0) throw invalid_argument("the mask cannot be a scalar");
  if (x.shape().has_rank()) {
    Shape under = Shape::unknown_dims(rank);
    if (x.shape().rank() < axis + rank)
      throw invalid_argument("Shapes {} of the tensor and {} of the mask are incompatible", x.shape().str(),
                             m.shape().str());
    for (int i = 0; i < rank; ++i) under.set_dim(i, x.shape()[axis + i]);
    if (!under.compatible(m.shape())) {
      throw invalid_argument("Shapes {} of the tensor and {} of the mask are incompatible", under.str(),
                             m.shape().str());
    }
  }
  Output sizes = subscript(shape(x), {between(axis, axis + rank)});
  Output leading = reduce_prod(sizes, 0);
  Output before = subscript(shape(x), {until(axis)});
  Output behind = subscript(shape(x), {from(axis + rank)});
  Output flat = reshape(x, concat({before, stack({leading}, 0, "concat/values_1"), behind}, 0));
  if (x.shape().has_rank()) {
    Shape known = Shape::unknown_dims(x.shape().rank() - rank + 1);
    for (int i = 0; i < axis; ++i) known.set_dim(i, x.shape()[i]);
    int64_t rows = 1;
    for (int i = axis; i < axis + rank; ++i) {
      rows = rows == kUnknown || x.shape()[i] == kUnknown ? kUnknown : checked_multiply(rows, x.shape()[i]);
    }
    known.set_dim(axis, rows);
    for (int i = axis + rank; i < x.shape().rank(); ++i) known.set_dim(i - rank + 1, x.shape()[i]);
    flat.set_shape(known);
  }
  Output places = squeeze(where(reshape(m, {-1})), {1});
  return gather(flat, places, axis);
}

std::vector<Output> meshgrid(const InList& axes, bool xy, std::string_view name) {
  Graph* graph = nullptr;
  for (const In& in : axes.values()) {
    if (in.output()) graph = &in.output().graph();
  }
  if (!graph) throw invalid_argument("no argument belongs to a graph; make one of them with Graph::constant");
  Graph& g = *graph;
  LineScope line(g, source_line(axes.values()[0].where()));
  Scope scope = g.name_scope(name.empty() ? "meshgrid" : name);
  const size_t count = axes.values().size();
  std::vector<Output> along, sizes;
  auto placed = [&](const Output& value, size_t dimension) {
    std::vector<int32_t> shape(count, 1);
    shape[dimension] = -1;
    return reshape(value, shape);
  };
  for (size_t i = 0; i < count; ++i) along.push_back(placed(as_output(g, axes.values()[i], float32, "stack"), i));
  for (const In& value : axes.values()) {
    Scope size_scope = g.name_scope("Size");
    sizes.push_back(size(as_output(g, value, float32, "Const"), int32, size_scope.name()));
  }
  as_output(g, axes.values()[0], float32, "Const");  // TensorFlow asks it for its type
  if (xy && count > 1) {
    along[0] = placed(along[0], 1);
    along[1] = placed(along[1], 0);
    std::swap(sizes[0], sizes[1]);
  }
  // Multiplying by ones stretches each to the whole grid. TensorFlow's tf.ones compares the number of elements with the
  // limit of a constant first.
  Output grid;
  {
    Scope ones_scope = g.name_scope("ones");
    Output elements = sizes[0];
    for (size_t i = 1; i < count; ++i) elements = elements * sizes[i];
    less(elements, 1000);
    Output shape = stack(sizes, 0, "packed");
    grid = weir::fill(shape, g.constant(Literal(1), along[0].dtype()), ones_scope.name());
  }
  std::vector<Output> result;
  for (const Output& values : along) result.push_back(values * grid);
  return result;
}

namespace {

// The values, which are checked when they are used.
Output checked(const Output& values, const Output& holds, const std::string& message) {
  Graph& g = values.graph();
  Scope after = g.control_dependencies({assert_true(reduce_all(holds), {g.constant(Tensor(message)), values})});
  return identity(values);
}

}  // namespace

Output confusion_matrix(const In& labels, const In& predictions, const ConfusionMatrixOptions& options,
                        std::string_view name) {
  Graph& g = graph_of(labels, predictions);
  LineScope line(g, source_line(labels.where()));
  Scope scope = g.name_scope(name.empty() ? "confusion_matrix" : name);
  Output rows = cast(as_output(g, labels, int64, "labels"), int64);
  Output columns = cast(as_output(g, predictions, int64, "predictions"), int64);
  rows = checked(rows, greater_equal(rows, 0), "`labels` contains negative values");
  columns = checked(columns, greater_equal(columns, 0), "`predictions` contains negative values");
  Output classes;
  if (options.num_classes) {
    classes = cast(as_output(g, *options.num_classes, int64, "num_classes"), int64);
    rows = checked(rows, less(rows, classes), "`labels` out of bound");
    columns = checked(columns, less(columns, classes), "`predictions` out of bound");
  } else {
    Output largest = maximum(reduce_max(columns), reduce_max(rows));
    classes = largest + 1;
  }
  Output values = options.weights ? cast(as_output(g, *options.weights, options.dtype, "weights"), options.dtype)
                                  : ones_like(columns, options.dtype);
  return scatter_nd(stack({rows, columns}, 1), values, stack({classes, classes}));
}

}  // namespace weir
