#include "graph/infer_context.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape a = infer_square(c, 0);
  c.set_output(0, a);
  if (!a.has_rank()) return;
  Shape p = batch_of(a);
  p.append(a[-1]);
  c.set_output(1, p);
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = PreciseOf<T>;
    const int64_t n = c.shape(0)[-1];
    const bool wide = c.node().type("output_idx_type") == DType::Int64;
    c.pool().parallel_for(matrix_count(c.shape(0)), 1, [&](int64_t begin, int64_t end) {
      std::vector<W> a(static_cast<size_t>(n * n));
      std::vector<int64_t> order(static_cast<size_t>(n));
      for (int64_t b = begin; b < end; ++b) {
        load(c.input<T>(0) + b * n * n, n, n, false, a.data());
        if (factor(a.data(), order.data(), n) == 0) c.fail("Input is not invertible.");
        store(a.data(), n * n, c.output<T>(0) + b * n * n);
        for (int64_t i = 0; i < n; ++i) {
          const int64_t from = order[static_cast<size_t>(i)];
          if (wide) {
            c.output<int64_t>(1)[b * n + i] = from;
          } else {
            c.output<int32_t>(1)[b * n + i] = static_cast<int32_t>(from);
          }
        }
      }
    });
  }
};

}  // namespace

OpDef lu_op() {
  return {.name = "Lu",
          .inputs = "input:T",
          .outputs = "lu:T; p:output_idx_type",
          .attrs = "T:type{double,float,half,complex64,complex128}; output_idx_type:type{int32,int64}=int32",
          .infer = infer,
          .cpu = {.select = kernel_for<MatrixTypes, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

Lu lu(const In& input, DType output_idx_type, std::string_view name) {
  Operation op = NodeBuilder("Lu", name).input(input).attr("output_idx_type", output_idx_type).build();
  return {op.output(0), op.output(1)};
}

}  // namespace weir
