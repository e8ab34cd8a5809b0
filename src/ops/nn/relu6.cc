#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

struct Relu6 {
  static constexpr auto kTile = cpu::UnaryFn::Relu6;
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x > T(6) ? T(6) : x;  // NaN passes
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, nn::relu6_grad(c.output_grad(), c.output(0))); }

}  // namespace

OpDef relu6_op() { return activation_op<Relu6, RealTypes>("Relu6", "T:realnumbertype", gradient); }

}  // namespace weir::ops

namespace weir::nn {

Output relu6(const In& features, std::string_view name) { return NodeBuilder("Relu6", name).input(features).output(); }

}  // namespace weir::nn
