#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  const Shape a = c.input(0).merged(Shape::unknown_dims(2)), b = c.input(1).merged(Shape::unknown_dims(2));
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  const int64_t inner_a = a[ta ? 0 : 1], inner_b = b[tb ? 1 : 0];
  if (inner_a != kUnknown && inner_b != kUnknown && inner_a != inner_b) {
    throw invalid_argument("Matrix size incompatible: a: {}, b: {}", a.str(), b.str());
  }
  c.set_output(0, Shape{a[ta ? 1 : 0], b[tb ? 0 : 1]});
}

struct State {
  bool transpose_a, transpose_b;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("transpose_a"), c.attr<bool>("transpose_b")}; }

float element(const KernelContext& c, int input, int64_t i) {
  return c.dtype(input) == DType::Float32 ? c.input<float>(input)[i] : static_cast<float>(c.input<BFloat16>(input)[i]);
}

// A product of dense matrices, of which the first has many zeros: these are passed over.
void cpu(KernelContext& c) {
  const auto [ta, tb] = c.state<State>();
  const int64_t rows = c.output_shape()[0], columns = c.output_shape()[1], inner = c.shape(0)[ta ? 0 : 1];
  c.pool().parallel_for(rows, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, inner * columns)),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            float* out = c.output<float>() + i * columns;
                            std::fill_n(out, columns, 0.f);
                            for (int64_t k = 0; k < inner; ++k) {
                              const float a = element(c, 0, ta ? k * rows + i : i * inner + k);
                              if (a == 0) continue;
                              if (!tb && c.dtype(1) == DType::Float32) {
                                const float* b = c.input<float>(1) + k * columns;
                                for (int64_t j = 0; j < columns; ++j) out[j] += a * b[j];
                              } else {
                                for (int64_t j = 0; j < columns; ++j)
                                  out[j] += a * element(c, 1, tb ? j * inner + k : k * columns + j);
                              }
                            }
                          }
                        });
}

void gradient(GradContext& c) {
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  Output grad = c.output_grad(), a = cast(c.input(0), float32), b = cast(c.input(1), float32);
  Output a_grad =
      ta ? matmul(b, grad, {.transpose_a = tb, .transpose_b = true}) : matmul(grad, b, {.transpose_b = !tb});
  Output b_grad =
      tb ? matmul(grad, a, {.transpose_a = true, .transpose_b = ta}) : matmul(a, grad, {.transpose_a = !ta});
  c.set_input_grad(0, cast(a_grad, c.input(0).dtype()));
  c.set_input_grad(1, cast(b_grad, c.input(1).dtype()));
}

}  // namespace

OpDef sparse_mat_mul_op() {
  return {.name = "SparseMatMul",
          .inputs = "a:Ta; b:Tb",
          .outputs = "product:float",
          .attrs =
              "transpose_a:bool=False; transpose_b:bool=False; a_is_sparse:bool=False; b_is_sparse:bool=False; "
              "Ta:type{float,bfloat16}=float; Tb:type{float,bfloat16}=float",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
