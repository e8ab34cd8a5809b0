#include <cmath>

#include "ops/summary/histogram.h"
#include "ops/summary/summary_output.h"
#include "ops/summary/summary_writer.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// Inputs `tag` and the one behind are the tag and the values.
template <class T>
proto::Summary histogram_of(KernelContext& c, int tag) {
  Histogram histogram;
  const T* values = c.input<T>(tag + 1);
  for (int64_t i = 0, n = c.elements(tag + 1); i < n; ++i) {
    const auto value = static_cast<double>(values[i]);
    if (!std::isfinite(value)) {
      c.fail((std::isnan(value) ? "Nan" : "Infinity") + std::string(" in summary histogram for: ") +
             std::string(c.node().name()));
    }
    histogram.add(value);
  }
  proto::Summary summary;
  proto::Summary::Value& value = *summary.add_value();
  value.set_tag(c.input<std::string>(tag)[0]);
  histogram.encode(*value.mutable_histo());
  return summary;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    set_summary(c, histogram_of<T>(c, 0));
  }
};

struct Write {
  template <class T>
  static void run(KernelContext& c) {
    write_summary(c, histogram_of<T>(c, 2));
  }
};

}  // namespace

OpDef histogram_summary_op() {
  return {.name = "HistogramSummary",
          .inputs = "tag:string; values:T",
          .outputs = "summary:string",
          .attrs = "T:realnumbertype=float",
          .infer = infer_tagged_summary,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<RealTypes, Cpu>},
          .host_only = true};
}

OpDef write_histogram_summary_op() {
  return write_row("WriteHistogramSummary", "writer:resource; step:int64; tag:string; values:T",
                   "T:realnumbertype=float", infer_write_summary, {.select = kernel_for<RealTypes, Write>});
}

}  // namespace weir::ops
