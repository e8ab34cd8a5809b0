#include <cmath>

#include "ops/summary/histogram.h"
#include "ops/summary/summary_output.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    Histogram histogram;
    const T* values = c.input<T>(1);
    for (int64_t i = 0, n = c.elements(1); i < n; ++i) {
      const auto value = static_cast<double>(values[i]);
      if (!std::isfinite(value)) {
        c.fail((std::isnan(value) ? "Nan" : "Infinity") + std::string(" in summary histogram for: ") +
               std::string(c.node().name()));
      }
      histogram.add(value);
    }
    proto::Summary summary;
    proto::Summary::Value& value = *summary.add_value();
    value.set_tag(c.input<std::string>(0)[0]);
    histogram.encode(*value.mutable_histo());
    set_summary(c, summary);
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

}  // namespace weir::ops
