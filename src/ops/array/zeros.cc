#include <algorithm>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir {
namespace {

// From here on the graph holds a Fill instead of a constant; TensorFlow draws the same line.
constexpr int64_t kLarge = 1000;

Tensor full_tensor(bool one, DType dtype, const Shape& shape) {
  if (!one) return Tensor::zeros(dtype, shape);
  if (dtype == DType::Bool) {
    Tensor all(dtype, shape);
    std::fill_n(all.mutable_data<bool>(), all.elements(), true);
    return all;
  }
  Tensor numbers(DType::Int64, shape);
  std::fill_n(numbers.mutable_data<int64_t>(), numbers.elements(), 1);
  return convert_literal(numbers, dtype);
}

Shape shape_of_value(const Tensor& value) {
  std::vector<int64_t> sizes;
  if (value.dtype() == DType::Int32) {
    sizes.assign(value.data<int32_t>().begin(), value.data<int32_t>().end());
  } else {
    sizes.assign(value.data<int64_t>().begin(), value.data<int64_t>().end());
  }
  for (int64_t size : sizes) {
    if (size < 0) throw invalid_argument("a shape holds the negative size {}", size);
  }
  return Shape(sizes);
}

Output full(Graph& graph, bool one, const In& shape, DType dtype, std::string_view name) {
  LineScope line(graph, source_line(shape.where()));
  Scope scope = graph.name_scope(name);
  Output dims = shape.output();
  if (dims) {
    if (dims.shape().is_scalar()) dims = reshape(dims, {-1});
  } else {
    Shape known = shape_of_value(shape.value());
    if (known.elements() < kLarge) return graph.constant(full_tensor(one, dtype, known), scope.name());
    Tensor sizes = Tensor(std::vector<int64_t>(known.dims().begin(), known.dims().end()));
    bool wide = std::any_of(known.dims().begin(), known.dims().end(), [](int64_t size) { return size > INT32_MAX; });
    dims = graph.constant(wide ? sizes : convert_literal(sizes, int32), "shape_as_tensor");
  }
  return fill(graph, dims, graph.constant(full_tensor(one, dtype, Shape{})), scope.name());
}

}  // namespace

Output zeros(Graph& graph, const In& shape, DType dtype, std::string_view name) {
  return full(graph, false, shape, dtype, ops::name_or(name, "zeros"));
}

Output ones(Graph& graph, const In& shape, DType dtype, std::string_view name) {
  return full(graph, true, shape, dtype, ops::name_or(name, "ones"));
}

}  // namespace weir
