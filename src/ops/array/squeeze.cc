#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& from = c.input(0);
  if (!from.has_rank()) return;
  std::vector<int> axes;
  for (int64_t axis : c.attr<std::vector<int64_t>>("squeeze_dims")) {
    axes.push_back(InferContext::normalise_axis(axis, from.rank()));
  }
  Shape to;
  for (int i = 0; i < from.rank(); ++i) {
    if (axes.empty()) {
      if (from[i] == kUnknown) return;  // it may be 1
      if (from[i] != 1) to.append(from[i]);
    } else if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      to.append(from[i]);
    } else if (from[i] != 1 && from[i] != kUnknown) {
      throw invalid_argument("Can not squeeze dim[{}], expected a dimension of 1, got {}: {}", i, from[i], from.str());
    }
  }
  c.set_output(0, to);
}

void gradient(GradContext& c) { c.set_input_grad(0, reshape(c.output_grad(), shape(c.input(0)))); }

}  // namespace

OpDef squeeze_op() {
  return {.name = "Squeeze",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "T:type; squeeze_dims:list(int)>=0=[]",
          .infer = infer,
          .gradient = gradient,
          .alias = 0};
}

}  // namespace weir::ops

namespace weir {

Output squeeze(const In& input, const std::vector<int64_t>& axes, std::string_view name) {
  return NodeBuilder("Squeeze", name).input(input).attr("squeeze_dims", axes).output();
}

}  // namespace weir
