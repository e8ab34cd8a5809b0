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
  Output sizes, summed_axes, free_axes;
  if (shape.has_rank()) {
    summed_axes = g.constant(Tensor(summed), "axes");
    free_axes = g.constant(Tensor(free), "free");
    sizes = weir::shape(x);
  } else {
    sizes = weir::shape(x);
    Output ranks = rank(x);
    summed_axes = g.constant(Tensor(std::vector<int32_t>(axes.begin(), axes.end())), "axes");
    Output positive = summed_axes >= 0;
    summed_axes = where(positive, summed_axes, summed_axes + ranks);
    free_axes = setdiff1d(range(0, ranks, 1), summed_axes).out;
  }
  result.free_shape = gather(sizes, free_axes);
  Output summed_shape = gather(sizes, summed_axes);
  Output rows = reduce_prod(result.free_shape), columns = reduce_prod(summed_shape);
  Output perm = summed_first ? concat({summed_axes, free_axes}, 0) : concat({free_axes, summed_axes}, 0);
  Output flat = summed_first ? stack({columns, rows}) : stack({rows, columns});
  result.matrix = reshape(transpose(x, perm), flat);
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
  Output product = matmul(x.matrix, y.matrix);
  if (!x.free_shape && !y.free_shape) {
    std::vector<int32_t> sizes(x.free_sizes.begin(), x.free_sizes.end());
    sizes.insert(sizes.end(), y.free_sizes.begin(), y.free_sizes.end());
    return reshape(product, sizes, scope.name());
  }
  auto known_or = [&](const Flattened& f) {
    std::vector<int32_t> sizes(f.free_sizes.begin(), f.free_sizes.end());
    return f.free_shape ? f.free_shape : g.constant(Tensor(sizes));
  };
  Output first = known_or(x), second = known_or(y);
  Output result = reshape(product, concat({first, second}, 0), scope.name());
  if (x.static_shape.has_rank() && y.static_shape.has_rank()) {
    for (int64_t dim : y.static_shape.dims()) x.static_shape.append(dim);
    result.set_shape(x.static_shape);
  }
  return result;
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

Output norm(const In& tensor, const NormOptions& options, std::string_view name) {
  if (!(options.ord > 0)) throw invalid_argument("the order of a norm must be positive; it is {}", options.ord);
  Graph& g = graph_of(tensor);
  LineScope line(g, source_line(tensor.where()));
  Scope scope = g.name_scope(name.empty() ? "norm" : name);
  const ReduceOptions reduce{options.axes, true};
  Output result;
  if (options.ord == 2) {
    result = sqrt(reduce_sum(tensor * (is_complex(tensor.output().dtype()) ? conj(tensor) : tensor.output()), reduce));
  } else {
    result = abs(tensor);
    if (options.ord == 1) {
      result = reduce_sum(result, reduce);
    } else if (std::isinf(options.ord)) {
      result = reduce_max(result, reduce);
    } else {
      result = pow(reduce_sum(pow(result, options.ord), reduce), 1.0 / options.ord);
    }
  }
  if (options.keep_dims) return result;
  std::vector<int64_t> axes;
  if (options.axes.in()) {
    const In& given = *options.axes.in();
    const Tensor numbers = given.weak() ? convert_literal(given.value(), int32) : given.value();
    if (numbers.dtype() == int64) {
      axes.assign(numbers.data<int64_t>().begin(), numbers.data<int64_t>().end());
    } else {
      axes.assign(numbers.data<int32_t>().begin(), numbers.data<int32_t>().end());
    }
  }
  return squeeze(result, axes);
}

}  // namespace weir
