#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

struct Relu {
  static constexpr auto kTile = cpu::UnaryFn::Relu;
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;  // NaN passes
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, nn::relu_grad(c.output_grad(), c.output(0))); }

}  // namespace

OpDef relu_op() {
  return activation_op<Relu, RealTypes>(
      "Relu", "T:type{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8}", gradient);
}

}  // namespace weir::ops

namespace weir::nn {

Output relu(const In& features, std::string_view name) { return NodeBuilder("Relu", name).input(features).output(); }

}  // namespace weir::nn
