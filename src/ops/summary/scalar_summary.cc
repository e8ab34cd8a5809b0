#include "ops/summary/summary_output.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  if (!c.input(0).compatible(c.input(1))) {
    std::string text = "tags and values not the same shape: " + c.input(0).str() + " != " + c.input(1).str();
    if (Tensor tags = c.value(0); tags.valid() && tags.elements() == 1) {
      text += " (tag '" + tags.data<std::string>()[0] + "')";
    }
    c.fail(text);
  }
  c.set_output(0, {});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    proto::Summary summary;
    for (int64_t i = 0; i < c.elements(0); ++i) {
      proto::Summary::Value& value = *summary.add_value();
      value.set_tag(c.input<std::string>(0)[i]);
      value.set_simple_value(static_cast<float>(c.input<T>(1)[i]));
    }
    set_summary(c, summary);
  }
};

}  // namespace

OpDef scalar_summary_op() {
  return {.name = "ScalarSummary",
          .inputs = "tags:string; values:T",
          .outputs = "summary:string",
          .attrs = "T:realnumbertype",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<RealTypes, Cpu>},
          .host_only = true};
}

}  // namespace weir::ops
