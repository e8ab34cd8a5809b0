#include <farmhash.h>

#include "graph/infer_context.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 1);
  c.set_output(0, Shape{c.input(0).has_rank() ? c.input(0)[0] : kUnknown, 2});
}

// 128 bits for the name of an example. The lower half is never 0 or 1, which tables may keep for places that are free.
void cpu(KernelContext& c) {
  for (int64_t i = 0; i < c.elements(0); ++i) {
    const std::string& text = c.input<std::string>(0)[i];
    const auto fingerprint = util::Fingerprint128(text.data(), text.size());
    const uint64_t low = util::Uint128Low64(fingerprint);
    c.output<int64_t>()[2 * i] = static_cast<int64_t>(low >= 2 ? low : low + ~uint64_t{1});
    c.output<int64_t>()[2 * i + 1] = static_cast<int64_t>(util::Uint128High64(fingerprint));
  }
}

}  // namespace

OpDef sdca_fprint_op() {
  return {.name = "SdcaFprint",
          .inputs = "input:string",
          .outputs = "output:int64",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
