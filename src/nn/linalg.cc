#include <cmath>
#include <numeric>

#include "nn/convert.h"
#include "weir/index_ops.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir {

using nn::as_output;
using nn::graph_of;

Output trace(const In& x, std::string_view name) {
  Graph& g = graph_of(x);
  LineScope line(g, source_line(x.where()));
  Scope scope = g.name_scope(name.empty() ? "Trace" : name);
  return reduce_sum(matrix_diag_part(x), -1, false, scope.name());
}

Output eye(Graph& graph, int64_t num_rows, const EyeOptions& options, std::string_view name) {
  Scope scope = graph.name_scope(name.empty() ? "eye" : name);
  const bool square = options.num_columns < 0;
  Shape matrices(options.batch_shape), diagonals(options.batch_shape);
  diagonals.append(square ? num_rows : std::min(num_rows, options.num_columns));
  matrices.append(num_rows);
  matrices.append(options.num_columns);
  Output diagonal = ones(graph, diagonals, options.dtype);
  if (square) return matrix_diag(diagonal);
  return matrix_set_diag(zeros(graph, matrices, options.dtype), diagonal);
}

Output matrix_transpose(const In& a, std::string_view name) {
  Graph& g = graph_of(a);
  LineScope line(g, source_line(a.where()));
  Scope scope = g.name_scope(name.empty() ? "matrix_transpose" : name);
  const Shape& shape = a.output().shape();
  if (!shape.has_rank()) {
    Output ranks = rank(a);
    Output batch = range(0, ranks - 2, 1, "Range");
    Output last = ranks - 1;
    return transpose(a, concat({batch, stack({last, ranks - 2}, 0, "concat/values_1")}, 0));
  }
  if (shape.rank() < 2)
    throw invalid_argument("Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: '{}' of shape {}",
                           a.output().name(), shape.str());
  std::vector<int> perm(static_cast<size_t>(shape.rank()));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return transpose(a, perm);
}

Output adjoint(const In& matrix, std::string_view name) {
  Graph& g = graph_of(matrix);
  LineScope line(g, source_line(matrix.where()));
  Scope scope = g.name_scope(name.empty() ? "adjoint" : name);
  return matrix_transpose(is_complex(matrix.output().dtype()) ? conj(matrix) : matrix.output());
}

namespace {

// One operand of tensordot as a matrix, with the axes to be summed last (or first), and the sizes of those that stay.
struct Flattened {
  Output matrix;
  std::vector<int64_t> free_sizes;  // when all are known
  Output free_shape;                // otherwise
  Shape static_shape = Shape::unknown();
};

Flattened flatten(const Output& x, const Output& sizes, const Output& summed, const Output& free, bool summed_first) {
  Flattened result;
  result.free_shape = gather(sizes, free);
  Output summed_shape = gather(sizes, summed);
  Output rows = reduce_prod(result.free_shape), columns = reduce_prod(summed_shape);
  Output perm = summed_first ? concat({summed, free}, 0) : concat({free, summed}, 0);
  Output flat = summed_first ? stack({columns, rows}) : stack({rows, columns});
  result.matrix = reshape(transpose(x, perm), flat);
  return result;
}

// Axes that only the run knows, or of a tensor whose rank is. TensorFlow makes the nodes of the tensor first.
template <class MakeAxes>
Flattened flatten(const Output& x, MakeAxes make_axes, bool summed_first) {
  Output sizes = weir::shape(x), ranks = rank(x);
  Output axes = make_axes();
  Output positive = axes >= 0;
  Output summed = where(positive, axes, axes + ranks);
  return flatten(x, sizes, summed, setdiff1d(range(0, ranks, 1), summed).out, summed_first);
}

Flattened flatten(Graph& g, const Output& x, const std::vector<int64_t>& axes, bool summed_first) {
  const Shape& shape = x.shape();
  Flattened result;
  std::vector<int32_t> summed, free;
  if (shape.has_rank()) {
    for (int64_t axis : axes) {
      const int64_t wrapped = axis < 0 ? axis + shape.rank() : axis;
      if (wrapped < 0 || wrapped >= shape.rank()) throw invalid_argument("axis {} of {}", axis, shape.str());
      summed.push_back(static_cast<int32_t>(wrapped));
    }
    result.static_shape = Shape{};
    for (int i = 0; i < shape.rank(); ++i) {
      if (std::find(summed.begin(), summed.end(), i) != summed.end()) continue;
      free.push_back(i);
      result.static_shape.append(shape[i]);
    }
  }
  if (shape.is_known()) {
    std::vector<int32_t> perm = summed_first ? summed : free;
    const std::vector<int32_t>& rest = summed_first ? free : summed;
    perm.insert(perm.end(), rest.begin(), rest.end());
    int64_t rows = 1, columns = 1;
    for (int i : free) {
      rows = checked_multiply(rows, shape[i]);
      result.free_sizes.push_back(shape[i]);
    }
    for (int i : summed) columns = checked_multiply(columns, shape[i]);
    Output moved = transpose(x, perm);
    result.matrix = reshape(moved, summed_first ? Tensor(std::vector<int32_t>{int32_t(columns), int32_t(rows)})
                                                : Tensor(std::vector<int32_t>{int32_t(rows), int32_t(columns)}));
    return result;
  }
  if (shape.has_rank()) {
    Output summed_axes = g.constant(Tensor(summed), "axes"), free_axes = g.constant(Tensor(free), "free");
    Flattened moved = flatten(x, weir::shape(x), summed_axes, free_axes, summed_first);
    moved.static_shape = result.static_shape;
    return moved;
  }
  auto make_axes = [&] { return g.constant(Tensor(std::vector<int32_t>(axes.begin(), axes.end())), "axes"); };
  return flatten(x, make_axes, summed_first);
}

// The product of the matrices in the shape of what is left of both operands.
Output contracted(Graph& g, Flattened& x, const Flattened& y, std::string_view name) {
  Output product = matmul(x.matrix, y.matrix);
  if (!x.free_shape && !y.free_shape) {
    std::vector<int32_t> sizes(x.free_sizes.begin(), x.free_sizes.end());
    sizes.insert(sizes.end(), y.free_sizes.begin(), y.free_sizes.end());
    return reshape(product, sizes, name);
  }
  auto known_or = [&](const Flattened& f) {
    std::vector<int32_t> sizes(f.free_sizes.begin(), f.free_sizes.end());
    return f.free_shape ? f.free_shape : g.constant(Tensor(sizes));
  };
  Output first = known_or(x), second = known_or(y);
  Output result = reshape(product, concat({first, second}, 0), name);
  if (x.static_shape.has_rank() && y.static_shape.has_rank()) {
    for (int64_t dim : y.static_shape.dims()) x.static_shape.append(dim);
    result.set_shape(x.static_shape);
  }
  return result;
}

}  // namespace

Output tensordot(const In& a, const In& b, const std::vector<int64_t>& a_axes, const std::vector<int64_t>& b_axes,
                 std::string_view name) {
  if (a_axes.size() != b_axes.size()) {
    throw invalid_argument("Different number of contraction axes 'a' and 'b', {} != {}.", a_axes.size(), b_axes.size());
  }
  Graph& g = graph_of(a, b);
  LineScope line(g, source_line(a.where()));
  Scope scope = g.name_scope(name.empty() ? "Tensordot" : name);
  Output left = as_output(g, a, nn::type_of(b), "a"), right = as_output(g, b, left.dtype(), "b");
  Flattened x = flatten(g, left, a_axes, false), y = flatten(g, right, b_axes, true);
  return contracted(g, x, y, scope.name());
}

Output tensordot_along(const In& a, const In& b, const In& axes, std::string_view name) {
  Graph& g = graph_of(a, b, axes);
  LineScope line(g, source_line(a.where()));
  Scope scope = g.name_scope(name.empty() ? "Tensordot" : name);
  Output left = as_output(g, a, nn::type_of(b), "a"), right = as_output(g, b, left.dtype(), "b");
  Output pairs = as_output(g, axes, int32, "axes");
  Flattened x = flatten(
      left, [&] { return subscript(pairs, {0}); }, false);
  Flattened y = flatten(
      right, [&] { return subscript(pairs, {1}); }, true);
  return contracted(g, x, y, scope.name());
}

Output tensordot(const In& a, const In& b, int axes, std::string_view name) {
  const Shape& shape = a.output() ? a.output().shape() : a.value().shape();
  if (axes < 0 || (shape.has_rank() && axes > shape.rank())) {
    throw invalid_argument("tensordot over {} axes of a tensor of shape {}", axes, shape.str());
  }
  std::vector<int64_t> last, first;
  for (int i = 0; i < axes; ++i) {
    last.push_back(i - axes);
    first.push_back(i);
  }
  return tensordot(a, b, last, first, name);
}

}  // namespace weir
