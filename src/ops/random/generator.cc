#include "ops/random/generator.h"

#include "weir/attr.h"

namespace weir::ops {

GeneratorRef prepare_generator(PrepareContext& c) {
  int64_t seed = c.attr<int64_t>("seed"), seed2 = c.attr<int64_t>("seed2");
  NodeResource& resource =
      c.resources().node_resource(c.node().name(), [&] { return std::make_unique<Generator>(seed, seed2); });
  return {static_cast<Generator*>(&resource)};
}

}  // namespace weir::ops
