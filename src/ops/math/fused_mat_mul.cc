#include "base/errors.h"
#include "ops/math/product.h"

namespace weir::ops {
namespace {

// MatMul, BiasAdd and perhaps an activation, which a pass of the plan found; no program makes this node itself.

void infer(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  c.require_rank(2, 1);
  if (!c.input(0).has_rank() || !c.input(1).has_rank()) return c.set_output(0, Shape::unknown_dims(2));
  auto [rows, columns] = product_dims(
      c.input(0), c.input(1), {.transpose_a = c.attr<bool>("transpose_a"), .transpose_b = c.attr<bool>("transpose_b")});
  if (c.input(2).has_rank()) columns = Shape{columns}.merged(c.input(2))[0];
  c.set_output(0, {rows, columns});
}

struct State {
  Product product;
  cpu::Activation activation;
};

State prepare(PrepareContext& c) {
  const auto& fused = c.attr<std::vector<std::string>>("fused_ops");
  cpu::Activation activation = cpu::Activation::None;
  if (fused.size() == 2 && fused[1] == "Relu") {
    activation = cpu::Activation::Relu;
  } else if (fused.size() == 2 && fused[1] == "Relu6") {
    activation = cpu::Activation::Relu6;
  } else if (fused.size() != 1) {
    throw invalid_argument("MatMul fuses BiasAdd and then Relu or Relu6, nothing else");
  }
  if (fused[0] != "BiasAdd") throw invalid_argument("MatMul cannot fuse {}", fused[0]);
  return {prepare_product(c, {.transpose_a = c.attr<bool>("transpose_a"), .transpose_b = c.attr<bool>("transpose_b")}),
          activation};
}

void cpu_kernel(KernelContext& c) {
  const State& s = c.state<State>();
  float_product(c, s.product, {.bias = c.input<float>(2), .activation = s.activation});
}

}  // namespace

OpDef fused_mat_mul_op() {
  return {.name = "_FusedMatMul",
          .inputs = "a:T; b:T; args:num_args*T",
          .outputs = "product:T",
          .attrs =
              "transpose_a:bool=False; transpose_b:bool=False; T:type{float}; num_args:int>=1; "
              "fused_ops:list(string)",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu_kernel>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
