#include "ops/random/random_row.h"
#include "ops/random/scaled_normal.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct Fill {
  template <class... Args>
  void operator()(Args&&... args) const {
    cpu::fill_normal(std::forward<Args>(args)...);
  }
};

}  // namespace

OpDef random_standard_normal_op() { return random_row<Fill>("RandomStandardNormal"); }

}  // namespace weir::ops

namespace weir {

Output random_normal(Graph& graph, const In& shape, const RandomNormalOptions& options, std::string_view name) {
  return ops::scaled_normal(graph, "RandomStandardNormal", shape, options, ops::name_or(name, "random_normal"));
}

}  // namespace weir
