#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/flops.h"
#include "ops/math/product.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  if (!c.input(0).has_rank() || !c.input(1).has_rank()) return c.set_output(0, Shape::unknown_dims(2));
  auto [rows, columns] = product_dims(
      c.input(0), c.input(1), {.transpose_a = c.attr<bool>("transpose_a"), .transpose_b = c.attr<bool>("transpose_b")});
  c.set_output(0, {rows, columns});
}

Product prepare(PrepareContext& c) {
  return prepare_product(c, {.transpose_a = c.attr<bool>("transpose_a"), .transpose_b = c.attr<bool>("transpose_b")});
}

Output product(const Output& a, const Output& b, bool transpose_a, bool transpose_b) {
  return NodeBuilder("MatMul")
      .input(a)
      .input(b)
      .attr("transpose_a", transpose_a)
      .attr("transpose_b", transpose_b)
      .output();
}

// Sum of a^T b over many a and b: the inner dimension is the first of both.
bool sums_by_stacking(const AttrMap& attrs) {
  return attrs.get<bool>("transpose_a") && !attrs.get<bool>("transpose_b") && is_floating(attrs.get<DType>("T"));
}

void gradient(GradContext& c) {
  Output a = conj(c.input(0)), b = conj(c.input(1)), grad = c.output_grad();
  bool t_a = c.attr<bool>("transpose_a"), t_b = c.attr<bool>("transpose_b");
  c.set_input_grad(0, t_a ? product(b, grad, t_b, true) : product(grad, b, false, !t_b));
  c.set_input_grad(1, t_b ? product(grad, a, true, t_a) : product(a, grad, !t_a, false));
}

}  // namespace

OpDef mat_mul_op() {
  return {.name = "MatMul",
          .inputs = "a:T; b:T",
          .outputs = "product:T",
          .attrs =
              "transpose_a:bool=False; transpose_b:bool=False; "
              "T:type{bfloat16,half,float,double,int32,int64,complex64,complex128}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select_product, .prepare = prepared<prepare>},
          .source = Source::Product,
          .fused = "_FusedMatMul",
          .packs = "_PackMatrix",
          .sums_by_stacking = sums_by_stacking,
          .flops = product_flops};
}

}  // namespace weir::ops

namespace weir {

Output matmul(const In& a, const In& b, const MatMulOptions& options, std::string_view name) {
  auto rank = [](const In& in) { return in.output() ? in.output().shape().rank() : in.value().shape().rank(); };
  auto conjugated = [&](const In& in) {
    const DType dtype = in.output() ? in.output().dtype() : in.value().dtype();
    if (!is_complex(dtype)) return in;
    return In(conj(ops::to_output(ops::graph_of({&a, &b}), in, "Const")));
  };
  const bool too_few = (rank(a) >= 0 && rank(a) < 2) || (rank(b) >= 0 && rank(b) < 2);
  if ((rank(a) == 2 && rank(b) == 2) || too_few) {  // MatMul says what is wrong
    // MatMul knows no adjoint: conjugate and transpose.
    return NodeBuilder("MatMul", name, a.where())
        .input(options.adjoint_a ? conjugated(a) : a)
        .input(options.adjoint_b ? conjugated(b) : b)
        .attr("transpose_a", options.transpose_a || options.adjoint_a)
        .attr("transpose_b", options.transpose_b || options.adjoint_b)
        .output();
  }
  // BatchMatMul knows no plain transpose: conjugate first, and take the adjoint.
  return NodeBuilder("BatchMatMulV2", name.empty() ? "MatMul" : name, a.where())
      .input(options.transpose_a ? conjugated(a) : a)
      .input(options.transpose_b ? conjugated(b) : b)
      .attr("adj_x", options.transpose_a || options.adjoint_a)
      .attr("adj_y", options.transpose_b || options.adjoint_b)
      .output();
}

}  // namespace weir
