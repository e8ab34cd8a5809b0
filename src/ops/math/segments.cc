#include "ops/math/segments.h"

#include "base/errors.h"
#include "graph/run_check.h"
#include "weir/index_ops.h"
#include "weir/ops.h"

namespace weir::ops {

void infer_segments(InferContext& c) {
  c.require_min_rank(0, 1);
  c.require_rank(1, 1);
  const Shape& data = c.input(0);
  if (!data.has_rank()) return;
  Shape to = data;
  to.set_dim(0, kUnknown);
  c.set_output(0, to);
  if (!Shape{data[0]}.compatible(c.input(1))) {
    throw run_check("segment_ids should be the same size as dimension 0 of input: {} and {}", c.input(1).str(),
                    data.str());
  }
  if (auto ids = c.value_as_ints(1)) {
    const int64_t rows = ids->empty() ? 0 : checked_add(ids->back(), 1);
    if (rows <= 0 && !ids->empty()) throw run_check("segment ids must be >= 0");
    to.set_dim(0, rows);
    c.set_output(0, to);
  }
}

void infer_unsorted_segments(InferContext& c) {
  const Shape &data = c.input(0), &ids = c.input(1);
  if (c.input(2).has_rank() && c.input(2).rank() != 0) {
    throw invalid_argument("Shape must be rank 0 but is rank {}: num_segments should be a scalar, not shape {}",
                           c.input(2).rank(), c.input(2).str());
  }
  std::optional<int64_t> segments = scalar_argument(c, 2);
  if (segments && *segments < 0) throw invalid_argument("num_segments is {}", *segments);
  if (!data.has_rank() || !ids.has_rank()) return;
  const bool fits =
      ids.rank() <= data.rank() && Shape(data.dims().first(static_cast<size_t>(ids.rank()))).compatible(ids);
  if (!fits) {
    throw invalid_argument("the shape of data, {}, must begin with that of segment_ids, {}", data.str(), ids.str());
  }
  Shape to{segments.value_or(kUnknown)};
  for (int i = ids.rank(); i < data.rank(); ++i) to.append(data[i]);
  c.set_output(0, to);
}

void check_sorted_id(int64_t id, int64_t previous, int64_t segments) {
  if (id < 0 || id >= segments) {
    throw invalid_argument("Segment id {} out of range [0, {}), possibly because 'segment_ids' input is not sorted.",
                           id, segments);
  }
  if (id < previous) throw invalid_argument("segment ids are not increasing");
}

int64_t sorted_id(const KernelContext& c, int64_t i, int64_t segments) {
  const int64_t id = int_at(c, 1, i);
  check_sorted_id(id, i > 0 ? int_at(c, 1, i - 1) : 0, segments);
  return id;
}

int64_t unsorted_id(const KernelContext& c, int64_t i, int64_t segments) {
  const int64_t id = int_at(c, 1, i);
  if (id >= segments)
    throw invalid_argument("segment_ids{} = {} is out of range [0, {})", subscript_of(c.shape(1), i), id, segments);
  return id;
}

void segment_extremum_gradient(GradContext& c) {
  Output data = c.input(0), ids = c.input(1), grad = c.output_grad();
  Output zeros = zeros_like(data);
  Output is_selected = equal(data, gather(c.output(0), ids));
  Output num_selected = segment_sum(cast(is_selected, grad.dtype()), ids);
  Output weighted = divide(grad, num_selected);
  c.set_input_grad(0, where(is_selected, gather(weighted, ids), zeros));
}

namespace {

// Rows by id, zero for negative ids.
struct Dropping {
  Output clipped, positive;

  Dropping(const Output& ids, const Output& like) : clipped(maximum(ids, zeros_like(ids))) {
    if (!like.shape().has_rank() || !ids.shape().has_rank()) {
      throw error(Code::Unimplemented, "the ranks of '{}' and '{}' must be known", like.name(), ids.name());
    }
    Output is_positive = greater_equal(ids, 0);
    for (int i = ids.shape().rank(); i < like.shape().rank(); ++i) is_positive = expand_dims(is_positive, -1);
    positive = logical_and(is_positive, ones_like(like, boolean));
  }
  Output gather_rows(const Output& params) const {
    Output rows = gather(params, clipped);
    return where(positive, rows, zeros_like(rows));
  }
};

}  // namespace

void unsorted_segment_extremum_gradient(GradContext& c) {
  Output data = c.input(0), ids = c.input(1), grad = c.output_grad();
  Dropping rows(ids, data);
  Output is_selected = logical_and(equal(data, rows.gather_rows(c.output(0))), rows.positive);
  Output num_selected = unsorted_segment_sum(cast(is_selected, grad.dtype()), ids, c.input(2));
  Output gathered = rows.gather_rows(divide(grad, num_selected));
  c.set_input_grad(0, where(is_selected, gathered, zeros_like(gathered)));
}

// The product divided by the element, which needs care where it is zero: with one zero in a segment only that one has a
// gradient, the product of the others; with more none has.
void unsorted_segment_prod_gradient(GradContext& c) {
  Output data = c.input(0), ids = c.input(1), segments = c.input(2), grad = c.output_grad();
  Output is_zero = equal(data, zeros_like(data));
  Output num_zeros = unsorted_segment_sum(cast(is_zero, int32), ids, segments);
  Output too_many = greater(num_zeros, 1);
  grad = where(too_many, zeros_like(grad), grad);
  Output others = unsorted_segment_prod(where(is_zero, ones_like(data), data), ids, segments);
  Dropping rows(ids, data);
  Output divided = divide(gather(c.output(0), rows.clipped), data);
  Output partial = where(is_zero, gather(others, rows.clipped), divided);
  c.set_input_grad(0, rows.gather_rows(grad) * (is_complex(data.dtype()) ? conj(partial) : partial));
}

}  // namespace weir::ops
