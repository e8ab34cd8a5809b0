#include "ops/random/random_row.h"
#include "ops/random/scaled_normal.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct Fill {
  template <class... Args>
  void operator()(Args&&... args) const {
    cpu::fill_truncated_normal(std::forward<Args>(args)...);
  }
};

}  // namespace

OpDef truncated_normal_op() { return random_row<Fill>("TruncatedNormal"); }

}  // namespace weir::ops

namespace weir {

Output truncated_normal(Graph& graph, const In& shape, const RandomNormalOptions& options, std::string_view name) {
  return ops::scaled_normal(graph, "TruncatedNormal", shape, options, ops::name_or(name, "truncated_normal"));
}

}  // namespace weir
