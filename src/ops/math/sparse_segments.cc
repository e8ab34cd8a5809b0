#include "ops/math/sparse_segments.h"

#include "base/errors.h"
#include "graph/run_check.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// What the reductions and their gradients have in common: all but the number of rows of the output.
Shape infer_rows(InferContext& c) {
  c.require_min_rank(0, 1);
  c.require_rank(1, 1);
  c.require_rank(2, 1);
  (void)c.input(1).merged(c.input(2));
  return c.input(0);
}

}  // namespace

void infer_sparse_segments(InferContext& c) {
  Shape to = infer_rows(c);
  int64_t rows = kUnknown;
  if (c.inputs() == 4) {
    const std::optional<int64_t> segments = scalar_argument(c, 3);
    if (segments && *segments < 0)
      throw invalid_argument("Cannot specify a negative value for num_segments: {}", *segments);
    rows = segments.value_or(kUnknown);
  }
  const std::optional<std::vector<int64_t>> ids = c.value_as_ints(2);
  if (ids && c.inputs() < 4) rows = ids->empty() ? 0 : std::max<int64_t>(checked_add(ids->back(), 1), 0);
  if (to.has_rank()) {
    to.set_dim(0, rows);
    c.set_output(0, to);
  }
  if (!ids || ids->empty()) return;
  if (ids->back() < 0) throw run_check("segment ids must be >= 0");
  if (rows != kUnknown && ids->back() >= rows) throw run_check("segment ids must be < num_segments");
}

void infer_sparse_segments_grad(InferContext& c) {
  Shape to = infer_rows(c);
  const std::optional<int64_t> rows = scalar_argument(c, 3);
  if (rows && *rows < 0) throw invalid_argument("output_dim0 is {}", *rows);
  if (!to.has_rank()) return;
  to.set_dim(0, rows.value_or(kUnknown));
  c.set_output(0, to);
}

int64_t sparse_row(const KernelContext& c, int64_t i, int64_t rows) {
  const int64_t row = int_at(c, 1, i);
  if (row < 0 || row >= rows) throw invalid_argument("indices[{}] == {} out of range [0, {})", i, row, rows);
  return row;
}

int64_t sparse_grad_row(const KernelContext& c, int64_t i, int64_t rows) {
  const int64_t row = int_at(c, 1, i);
  if (row < 0 || row >= rows) throw invalid_argument("Index {} out of range [0, {}).", row, rows);
  return row;
}

void check_last_segment(const KernelContext& c, int64_t segments) {
  const int64_t count = c.elements(2);
  if (count > 0 && int_at(c, 2, count - 1) >= segments) {
    throw invalid_argument("Invalid number of segments: the last id is {} and there are {}", int_at(c, 2, count - 1),
                           segments);
  }
}

int64_t segment_end(const KernelContext& c, int64_t begin, int64_t segments) {
  const int64_t id = int_at(c, 2, begin);
  int64_t end = begin + 1;
  while (end < c.elements(2) && int_at(c, 2, end) == id) ++end;
  if (end < c.elements(2) && int_at(c, 2, end) < id) throw invalid_argument("segment ids are not increasing");
  if (id < 0 || id >= segments) {
    throw invalid_argument("Segment id {} out of range [0, {}), possibly because 'segment_ids' input is not sorted.",
                           id, segments);
  }
  return end;
}

void sparse_segment_gradient(GradContext& c, std::string_view op) {
  Output rows = subscript(shape(c.input(0)), {0});
  c.set_input_grad(0, NodeBuilder(op).input(c.output_grad()).input(c.input(1)).input(c.input(2)).input(rows).output());
}

Output sparse_segments(const std::string& op, const In& data, const In& indices, const In& segment_ids,
                       const std::optional<In>& num_segments, std::string_view name) {
  if (!num_segments) return NodeBuilder(op, name).input(data).input(indices).input(segment_ids).output();
  return NodeBuilder(op + "WithNumSegments", name)
      .input(data)
      .input(indices)
      .input(segment_ids)
      .input(*num_segments)
      .output();
}

}  // namespace weir::ops
