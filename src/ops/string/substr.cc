#include <algorithm>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

// pos and len have one shape: a number for all strings, or one for each.
void infer(InferContext& c) {
  const Shape at = c.input(1).merged(c.input(2));
  if (at.has_rank() && !at.is_scalar()) {
    c.set_output(0, c.input(0).merged(at));
  } else {
    c.set_output(0, at.has_rank() ? c.input(0) : Shape::unknown());
  }
}

void cpu(KernelContext& c) {
  const bool one = c.shape(1).is_scalar();
  for (int64_t i = 0; i < c.elements(0); ++i) {
    const std::string& text = c.input<std::string>(0)[i];
    const auto size = static_cast<int64_t>(text.size());
    int64_t pos = int_at(c, 1, one ? 0 : i);
    const int64_t len = int_at(c, 2, one ? 0 : i);
    if (pos < -size || pos > size) throw invalid_argument("pos {} out of range for string of {} bytes", pos, size);
    if (pos < 0) pos += size;
    c.output<std::string>()[i] = text.substr(static_cast<size_t>(pos), static_cast<size_t>(std::max<int64_t>(len, 0)));
  }
}

ComputeFn select(const NodeView& node) { return node.attr<std::string>("unit") == "BYTE" ? cpu : nullptr; }

}  // namespace

OpDef substr_op() {
  return {.name = "Substr",
          .inputs = "input:string; pos:T; len:T",
          .outputs = "output:string",
          .attrs = "T:type{int32,int64}; unit:string{BYTE,UTF8_CHAR}='BYTE'",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output substr(const In& input, const In& pos, const In& len, std::string_view name) {
  return NodeBuilder("Substr", name).input(input).input(pos).input(len).output();
}

}  // namespace weir
