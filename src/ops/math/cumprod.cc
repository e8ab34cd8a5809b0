#include "ops/math/cumulate.h"

namespace weir::ops {
namespace {

struct Cumprod {
  static constexpr int kStart = 1;
  template <class T>
  T operator()(T a, T b) const {
    return wrapping_mul(a, b);
  }
};

void gradient(GradContext& c) {
  bool exclusive = c.attr<bool>("exclusive"), reverse = c.attr<bool>("reverse");
  Output x = c.input(0), axis = c.input(1);
  Output product = cumprod(x, axis, {.exclusive = exclusive, .reverse = reverse});
  Output sums = cumsum(product * c.output_grad(), axis, {.exclusive = exclusive, .reverse = !reverse});
  c.set_input_grad(0, sums / x);
}

}  // namespace

OpDef cumprod_op() { return cumulate_op<Cumprod>("Cumprod", gradient); }

}  // namespace weir::ops

namespace weir {

Output cumprod(const In& x, const In& axis, const CumulateOptions& options, std::string_view name) {
  return NodeBuilder("Cumprod", name)
      .input(x)
      .input(axis)
      .attr("exclusive", options.exclusive)
      .attr("reverse", options.reverse)
      .output();
}

}  // namespace weir
