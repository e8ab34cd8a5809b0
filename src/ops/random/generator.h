#pragma once

#include "devices/cpu/philox.h"
#include "ops/kernel.h"

namespace weir::ops {

// The generator of a random node. It belongs to the session's node, not to a plan: every run draws on, whichever plan
// runs it.
struct Generator final : Resource {
  Generator(int64_t seed, int64_t seed2) : philox(seed, seed2) {}
  std::string describe() const override { return "a generator of random numbers"; }
  cpu::PhiloxState philox;
};

// What `prepare` of a random operation gives; reads the attributes seed and seed2.
struct GeneratorRef {
  ResourcePtr<Generator> generator;
};
GeneratorRef prepare_generator(PrepareContext& c);

}  // namespace weir::ops
