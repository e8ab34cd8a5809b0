#include "ops/random/generator.h"

#include "weir/attr.h"

namespace weir::ops {

GeneratorRef prepare_generator(PrepareContext& c) {
  int64_t seed = c.attr<int64_t>("seed"), seed2 = c.attr<int64_t>("seed2");
  return {c.node_resource<Generator>([&] { return make_resource<Generator>(seed, seed2); })};
}

}  // namespace weir::ops
