#include <algorithm>

#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

void bytes(KernelContext& c) {
  for (int64_t i = 0; i < c.elements(0); ++i) {
    c.output<int32_t>()[i] = static_cast<int32_t>(c.input<std::string>(0)[i].size());
  }
}

// Bytes that begin a character: all but those of the form 10xxxxxx.
void characters(KernelContext& c) {
  for (int64_t i = 0; i < c.elements(0); ++i) {
    const std::string& text = c.input<std::string>(0)[i];
    c.output<int32_t>()[i] = static_cast<int32_t>(
        std::count_if(text.begin(), text.end(), [](char b) { return (static_cast<unsigned char>(b) & 0xc0) != 0x80; }));
  }
}

ComputeFn select(const NodeView& node) { return node.attr<std::string>("unit") == "BYTE" ? bytes : characters; }

}  // namespace

OpDef string_length_op() {
  return {.name = "StringLength",
          .inputs = "input:string",
          .outputs = "output:int32",
          .attrs = "unit:string{BYTE,UTF8_CHAR}='BYTE'",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = select},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output string_length(const In& input, std::string_view name) {
  return NodeBuilder("StringLength", name).input(input).output();
}

}  // namespace weir
