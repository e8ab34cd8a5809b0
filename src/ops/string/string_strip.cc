#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  for (int64_t i = 0; i < c.elements(0); ++i) {
    const std::string& text = c.input<std::string>(0)[i];
    const size_t begin = text.find_first_not_of(kSpace);
    c.output<std::string>()[i] =
        begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
  }
}

}  // namespace

OpDef string_strip_op() {
  return {.name = "StringStrip",
          .inputs = "input:string",
          .outputs = "output:string",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output string_strip(const In& input, std::string_view name) {
  return NodeBuilder("StringStrip", name).input(input).output();
}

}  // namespace weir
