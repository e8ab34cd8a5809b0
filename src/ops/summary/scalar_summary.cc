#include "ops/summary/summary_output.h"
#include "ops/summary/summary_writer.h"
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

void infer_write(InferContext& c) {
  for (int i = 0; i < 4; ++i) c.require_scalar(i);
}

// Inputs `tags` and the one behind are the tags and their values.
template <class T>
proto::Summary scalars(KernelContext& c, int tags) {
  proto::Summary summary;
  for (int64_t i = 0; i < c.elements(tags); ++i) {
    proto::Summary::Value& value = *summary.add_value();
    value.set_tag(c.input<std::string>(tags)[i]);
    value.set_simple_value(static_cast<float>(c.input<T>(tags + 1)[i]));
  }
  return summary;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    set_summary(c, scalars<T>(c, 0));
  }
};

struct Write {
  template <class T>
  static void run(KernelContext& c) {
    write_summary(c, scalars<T>(c, 2));
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

OpDef write_scalar_summary_op() {
  return write_row("WriteScalarSummary", "writer:resource; step:int64; tag:string; value:T", "T:realnumbertype",
                   infer_write, {.select = kernel_for<RealTypes, Write>});
}

}  // namespace weir::ops
