#include "graph/grad_context.h"
#include "ops/math/product.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// Every dimension but the last two agrees.
void infer(InferContext& c) {
  const Shape &x = c.input(0), &y = c.input(1);
  c.require_min_rank(0, 2);
  c.require_min_rank(1, 2);
  if (!x.has_rank() || !y.has_rank()) return;
  auto [rows, columns] =
      product_dims(x, y, {.transpose_a = c.attr<bool>("adj_x"), .transpose_b = c.attr<bool>("adj_y")});
  auto batch = [](const Shape& s) { return Shape(s.dims().first(static_cast<size_t>(s.rank() - 2))); };
  Shape shape = batch(x).merged(batch(y));
  shape.append(rows);
  shape.append(columns);
  c.set_output(0, std::move(shape));
}

void gradient(GradContext& c) { batch_mat_mul_gradient(c, false); }

}  // namespace

OpDef batch_mat_mul_op() { return batch_mat_mul_def("BatchMatMul", infer, gradient); }

}  // namespace weir::ops

namespace weir {

Output batch_matmul(const In& x, const In& y, const BatchMatMulOptions& options, std::string_view name) {
  return NodeBuilder("BatchMatMul", name)
      .input(x)
      .input(y)
      .attr("adj_x", options.adj_x)
      .attr("adj_y", options.adj_y)
      .output();
}

}  // namespace weir
