#include "ops/math/reduction.h"

#include <algorithm>
#include <vector>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/node.h"

namespace weir::ops {
namespace {

int64_t axis_at(const KernelContext& c, int64_t i) {
  return c.dtype(1) == int32 ? c.input<int32_t>(1)[i] : c.input<int64_t>(1)[i];
}

std::vector<int64_t> ints(const Tensor& t) {
  if (t.dtype() == int32) return {t.data<int32_t>().begin(), t.data<int32_t>().end()};
  return {t.data<int64_t>().begin(), t.data<int64_t>().end()};
}

// x / y for sizes, where 0 / 0 is 0.
Output safe_shape_div(const Output& x, const Output& y) { return floordiv(x, maximum(y, 1)); }

}  // namespace

void infer_reduction(InferContext& c) {
  const Shape& x = c.input(0);
  if (c.input(1).rank() > 1) {
    throw invalid_argument("Shape must be at most rank 1 but is rank {}: the axes have shape {}", c.input(1).rank(),
                           c.input(1).str());
  }
  bool keep_dims = c.attr<bool>("keep_dims");
  auto axes = c.value_as_ints(1);
  if (!axes || !x.has_rank()) {
    if (keep_dims && x.has_rank()) c.set_output(0, Shape::unknown_dims(x.rank()));
    return;
  }
  std::vector<bool> reduced(static_cast<size_t>(x.rank()));
  for (int64_t axis : *axes) {
    if (axis < -x.rank() || axis >= x.rank()) {
      throw invalid_argument("Invalid reduction dimension {} for input with {} dimension(s)", axis, x.rank());
    }
    reduced[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)] = true;  // named twice is named
  }
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    if (!reduced[static_cast<size_t>(d)]) {
      shape.append(x[d]);
    } else if (keep_dims) {
      shape.append(1);
    }
  }
  c.set_output(0, std::move(shape));
}

ReductionPlan::ReductionPlan(const KernelContext& c) {
  const Shape& x = c.shape(0);
  const int64_t axes = c.elements(1);
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t size = x[d];
    bool is_reduced = false;
    for (int64_t i = 0; i < axes; ++i) is_reduced |= axis_at(c, i) == d || axis_at(c, i) + x.rank() == d;
    if (is_reduced) reduced_ *= size;
    if (size == 1) continue;
    if (rank_ > 0 && is_reduced_[rank_ - 1] == is_reduced) {
      dims_[rank_ - 1] *= size;
      continue;
    }
    if (rank_ == kMaxDims) {
      throw error(Code::Unimplemented, "more than {} alternations of kept and reduced dimensions", kMaxDims);
    }
    dims_[rank_] = size;
    is_reduced_[rank_++] = is_reduced;
  }
  if (rank_ == 0) {
    dims_[0] = 1;
    is_reduced_[0] = false;
    rank_ = 1;
  }
}

std::optional<cpu::ReduceShape> ReductionPlan::adjacent() const {
  const int first = is_reduced_[0] ? 0 : 1;
  if (rank_ - first > 2 || first == rank_) return std::nullopt;
  return cpu::ReduceShape{first == 1 ? dims_[0] : 1, dims_[first], rank_ - first == 2 ? dims_[first + 1] : 1};
}

std::optional<ReductionPlan::Stages> ReductionPlan::stages() const {
  const int outer = rank_ - 3;
  if (outer < 0 || outer > 1 || !is_reduced_[outer] || dims_[outer] < kLeastOuter) return std::nullopt;
  const int64_t parts = outer == 1 ? dims_[0] : 1, kept = dims_[outer + 1], inner = dims_[outer + 2];
  if (parts * kept * inner == 0) return std::nullopt;
  return Stages{{parts, dims_[outer], kept * inner}, {parts * kept, inner, 1}};
}

void ReductionPlan::for_each_row(Row row) const {
  const int inner = rank_ - 1;
  int64_t y_stride[kMaxDims] = {}, at[kMaxDims] = {};
  int64_t stride = 1, rows = 1;
  for (int d = inner; d >= 0; --d) {
    if (!is_reduced_[d]) {
      y_stride[d] = stride;
      stride *= dims_[d];
    }
    if (d < inner) rows *= dims_[d];
  }
  if (dims_[inner] == 0) return;  // however many rows there are
  int64_t y = 0;
  for (int64_t r = 0; r < rows; ++r) {
    row(r * dims_[inner], y, dims_[inner]);
    for (int d = inner - 1; d >= 0; --d) {
      y += y_stride[d];
      if (++at[d] < dims_[d]) break;
      y -= y_stride[d] * dims_[d];
      at[d] = 0;
    }
  }
}

// The axes are not known yet: room for whatever they turn out to be. reduce() wants at most a 16th of its input, as
// much lies between two stages, and the general way wants an accumulator for each result.
NoState prepare_reduction(PrepareContext& c) {
  const size_t results = static_cast<size_t>(std::max<int64_t>(c.output().elements(), 0));
  const size_t accumulators = results * 2 * sizeof(double);
  const size_t runs = static_cast<size_t>(c.input(0).elements()) * sizeof(float) / 16;
  const bool is_float = c.node().attrs().has("T") && c.node().type() == float32;
  // Up to two dimensions leave the reduced ones neighbours.
  c.set_scratch(!is_float ? accumulators : c.input(0).rank() <= 2 ? runs : std::max(2 * runs, accumulators));
  return {};
}

Output reduced_shape(const Output& input_shape, const Output& axes) {
  Output shape32 = cast(input_shape, int32), axes32 = cast(axes, int32);
  Output rank = size(shape32);
  axes32 = floormod(axes32 + rank, rank, "mod");
  Output axes_shape = shape(axes32);
  return dynamic_stitch({range(0, rank), axes32}, {shape32, fill(axes_shape, 1)});
}

Output spread_gradient(GradContext& c) {
  const Output x = c.input(0), grad = c.output_grad();
  const Shape& known = x.shape();
  if (Tensor axes = constant_value(c.input(1)); known.has_rank() && axes.valid()) {
    std::vector<int> kept_dims(static_cast<size_t>(known.rank()), 1), multiples(kept_dims);
    std::vector<bool> reduced(kept_dims.size());
    for (int64_t axis : ints(axes)) reduced[static_cast<size_t>(axis < 0 ? axis + known.rank() : axis)] = true;
    bool all = std::find(reduced.begin(), reduced.end(), false) == reduced.end();
    if (all && !known.is_known()) return tile(reshape(grad, kept_dims), shape(x));
    if (known.is_known()) {
      for (size_t d = 0; d < reduced.size(); ++d) {
        (reduced[d] ? multiples : kept_dims)[d] = static_cast<int>(known[static_cast<int>(d)]);
      }
      return tile(reshape(grad, kept_dims), multiples);
    }
  }
  Output input_shape = shape(x);
  Output kept_dims = reduced_shape(input_shape, c.input(1));
  Output multiples = safe_shape_div(input_shape, kept_dims);
  return tile(reshape(grad, kept_dims), multiples);
}

void extremum_gradient(GradContext& c) {
  Output x = c.input(0), axes = c.input(1);
  Output kept_dims = reduced_shape(shape(x), axes);
  Output y = reshape(c.output(0), kept_dims), grad = reshape(c.output_grad(), kept_dims);
  Output chosen = cast(equal(y, x), grad.dtype());
  Output count = reshape(reduce_sum(chosen, axes), kept_dims);
  c.set_input_grad(0, chosen / count * grad);
}

}  // namespace weir::ops

namespace weir {

Output Reduction::operator()(const In& x, const ReduceOptions& options, std::string_view name) const {
  if (options.axes.in()) {
    return NodeBuilder(op_, name).input(x).input(*options.axes.in()).attr("keep_dims", options.keep_dims).output();
  }
  if (!x.output()) throw invalid_argument("{}: the argument belongs to no graph", op_);
  Graph& graph = x.output().graph();
  LineScope line(graph, source_line(x.where()));
  const Shape& known = x.output().shape();
  Output axes;
  if (known.has_rank()) {
    Tensor all(int32, Shape{known.rank()});
    for (int d = 0; d < known.rank(); ++d) all.mutable_data<int32_t>()[d] = d;
    axes = graph.constant(all);
  } else {
    axes = range(0, rank(x.output()));
  }
  Output y = NodeBuilder(op_, name).input(x).input(axes).attr("keep_dims", options.keep_dims).output();
  if (!options.keep_dims) y.set_shape({});
  return y;
}

Output reduce_logsumexp(const In& x, const ReduceOptions& options, std::string_view name) {
  if (!x.output()) throw invalid_argument("reduce_logsumexp: the argument belongs to no graph");
  Graph& graph = x.output().graph();
  LineScope line(graph, source_line(x.where()));
  Scope scope = graph.name_scope(name.empty() ? "ReduceLogSumExp" : name);
  Output raw_max = reduce_max(x, {.axes = options.axes, .keep_dims = true});
  // An infinite maximum must not turn x - max into NaN.
  Output max = stop_gradient(where(is_finite(raw_max), raw_max, zeros_like(raw_max)));
  Output result = log(reduce_sum(exp(subtract(x, max)), options));
  if (!options.keep_dims) max = reshape(max, shape(result));
  return add(result, max);
}

}  // namespace weir
