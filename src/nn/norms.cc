#include <cmath>

#include "nn/convert.h"
#include "weir/index_ops.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir {

using nn::graph_of;

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

namespace {

// The largest singular value of each matrix; both axes stay, with size 1.
Output spectral_norm(Graph& g, const Output& x, const MatrixNormOptions& options) {
  Output axes = g.constant(Tensor(std::vector<int32_t>{options.rows, options.columns}), "axes");
  Output ranks = rank(x);
  Output positive = where(axes >= 0, axes, axes + ranks);
  Output perm = concat({setdiff1d(range(0, ranks, 1), positive).out, positive}, 0);
  Output values = svd(transpose(x, perm), {.compute_uv = false}).s;
  if (is_complex(values.dtype())) values = real(values);  // the operation gives them in the type of the matrix
  Output largest = expand_dims(reduce_max(values, {.axes = {-1}, .keep_dims = true}), -1);
  return transpose(largest, invert_permutation(perm));
}

}  // namespace

Output matrix_norm(const In& matrices, const MatrixNormOptions& options, std::string_view name) {
  if (options.rows == options.columns)
    throw invalid_argument("the two axes of a matrix norm are both {}", options.rows);
  Graph& g = graph_of(matrices);
  LineScope line(g, source_line(matrices.where()));
  Scope scope = g.name_scope(name.empty() ? "norm" : name);
  Output result;
  if (options.ord == 2) {
    result = spectral_norm(g, matrices.output(), options);
  } else if (options.ord == 1 || std::isinf(options.ord)) {
    const bool columns = options.ord == 1;  // sums of columns, or of rows
    const int summed = columns ? options.rows : options.columns, compared = columns ? options.columns : options.rows;
    Output sums = reduce_sum(abs(matrices), {.axes = {summed}, .keep_dims = true});
    result = reduce_max(sums, {.axes = {compared}, .keep_dims = true});
  } else {
    throw invalid_argument("the order of a matrix norm is 1, 2 or infinity; it is {}", options.ord);
  }
  return options.keep_dims ? result : squeeze(result, {options.rows, options.columns});
}

}  // namespace weir
