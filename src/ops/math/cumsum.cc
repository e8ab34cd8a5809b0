#include "ops/math/cumulate.h"

namespace weir::ops {
namespace {

struct Cumsum {
  static constexpr int kStart = 0;
  template <class T>
  T operator()(T a, T b) const {
    return wrapping_add(a, b);
  }
};

void gradient(GradContext& c) {
  c.set_input_grad(0, cumsum(c.output_grad(), c.input(1),
                             {.exclusive = c.attr<bool>("exclusive"), .reverse = !c.attr<bool>("reverse")}));
}

}  // namespace

OpDef cumsum_op() { return cumulate_op<Cumsum>("Cumsum", gradient); }

}  // namespace weir::ops

namespace weir {

Output cumsum(const In& x, const In& axis, const CumulateOptions& options, std::string_view name) {
  return NodeBuilder("Cumsum", name)
      .input(x)
      .input(axis)
      .attr("exclusive", options.exclusive)
      .attr("reverse", options.reverse)
      .output();
}

}  // namespace weir
