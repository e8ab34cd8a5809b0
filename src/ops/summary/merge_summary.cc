#include <unordered_set>

#include "ops/summary/summary_output.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  proto::Summary merged;
  std::unordered_set<std::string> tags;
  for (int input = 0; input < c.inputs(); ++input) {
    for (int64_t i = 0; i < c.elements(input); ++i) {
      proto::Summary summary;
      if (!summary.ParseFromString(c.input<std::string>(input)[i])) c.fail("Could not parse one of the summary inputs");
      for (proto::Summary::Value& value : *summary.mutable_value()) {
        // TensorSummary makes values without tags.
        if (!value.tag().empty() && !tags.insert(value.tag()).second) {
          c.fail("Duplicate tag " + value.tag() + " found in summary inputs");
        }
        *merged.add_value() = std::move(value);
      }
    }
  }
  set_summary(c, merged);
}

}  // namespace

OpDef merge_summary_op() {
  return {.name = "MergeSummary",
          .inputs = "inputs:N*string",
          .outputs = "summary:string",
          .attrs = "N:int>=1",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
