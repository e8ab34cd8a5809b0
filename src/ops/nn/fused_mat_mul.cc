#include "base/errors.h"
#include "devices/cpu/gemm.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/flops.h"
#include "ops/nn/epilogue.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

int64_t packed_columns(const AttrMap& attrs) {
  const AttrValue* columns = attrs.find("packed_columns");
  return columns ? std::get<int64_t>(*columns) : 0;
}

// MatMul with what follows it, applied while the result is still in the cache, and with a second matrix that
// _PackMatrix has made ready, of that many columns; made by passes.
void infer(InferContext& c) {
  c.require_rank(0, 2);
  if (const int64_t columns = packed_columns(c.attrs()); columns > 0) {
    const Shape a = c.input(0).merged(Shape::unknown_dims(2));
    return c.set_output(0, {a[c.attr<bool>("transpose_a") ? 1 : 0], columns});
  }
  c.require_rank(1, 2);
  const Shape a = c.input(0).merged(Shape::unknown_dims(2)), b = c.input(1).merged(Shape::unknown_dims(2));
  const int ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  const int64_t inner_a = a[1 - ta], inner_b = b[tb], columns = b[1 - tb];
  if (inner_a != kUnknown && inner_b != kUnknown && inner_a != inner_b) {
    throw invalid_argument("inner dimensions differ: {} x {}", a.str(), b.str());
  }
  const Epilogue epilogue = parse_epilogue(c.attrs());
  if (epilogue.norm) throw error(Code::Unimplemented, "a product takes no FusedBatchNorm");
  check_epilogue(c, epilogue, 2, {a[ta], columns});
  c.set_output(0, Shape{a[ta], columns});
}

template <class T>
struct State {
  cpu::Gemm<T> gemm;
  Epilogue epilogue;
};

template <class T>
State<T> prepare(PrepareContext& c) {
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  const bool packed = packed_columns(c.node().attrs()) > 0;
  State<T> state{{.m = c.output()[0],
                  .n = c.output()[1],
                  .k = c.input(0)[ta ? 0 : 1],
                  .lda = c.input(0)[1],
                  .transpose_a = ta,
                  .ldb = packed ? 0 : c.input(1)[1],
                  .transpose_b = tb && !packed,
                  .packed_b = packed,
                  .ldc = c.output()[1]},
                 parse_epilogue(c.node().attrs())};
  c.set_scratch(cpu::gemm_scratch_bytes(state.gemm, c.threads()));
  return state;
}

KernelState prepare_any(PrepareContext& c) {
  return c.node().type() == DType::Float64 ? prepared<prepare<double>>(c) : prepared<prepare<float>>(c);
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& state = c.state<State<T>>();
    cpu::Gemm<T> gemm = state.gemm;
    gemm.a = c.input<T>(0);
    gemm.b = c.input<T>(1);
    gemm.c = c.output<T>();
    gemm.epilogue = bind_epilogue<T>(c, state.epilogue, 2, gemm.n, 0, nullptr);
    cpu::gemm(c.pool(), gemm, c.scratch());
  }
};

}  // namespace

OpDef fused_mat_mul_op() {
  return {.name = "_FusedMatMul",
          .inputs = "a:T; b:T; args:num_args*T",
          .outputs = "product:T",
          .attrs =
              "transpose_a:bool=False; transpose_b:bool=False; T:type{float,double}; num_args:int>=0; "
              "fused_ops:list(string)=[]; epsilon:float=0.0001; packed_columns:int=0",
          .infer = infer,
          .cpu = {.select = kernel_for<Types<float, double>, Cpu>, .prepare = prepare_any},
          .packs = "_PackMatrix",
          .flops = product_flops};
}

}  // namespace weir::ops
