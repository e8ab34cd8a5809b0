#pragma once

#include "base/errors.h"
#include "devices/cpu/philox.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"

namespace weir::ops {

// The stream that two seeds alone decide: they are a block under a fixed key, and what that becomes is key and counter.
inline cpu::Philox stateless_stream(const KernelContext& c, int input) {
  constexpr uint64_t kKey = 0x02461e293ec8f720;
  auto seed = [&](int i) {
    return static_cast<uint64_t>(c.dtype(input) == DType::Int32 ? c.input<int32_t>(input)[i]
                                                                : c.input<int64_t>(input)[i]);
  };
  cpu::Philox mixer(kKey, seed(1));
  mixer.counter_low = seed(0);
  uint32_t mixed[4];
  mixer.next(mixed, 1);
  auto joined = [&](int low) { return static_cast<uint64_t>(mixed[low + 1]) << 32 | mixed[low]; };
  return cpu::Philox(joined(0), joined(2));
}

inline void require_seed(const InferContext& c, int input) {
  const Shape& seed = c.input(input);
  if (seed.has_rank() && (seed.rank() != 1 || (seed[0] >= 0 && seed[0] != 2))) {
    throw invalid_argument("seed must have shape [2], not {}", seed.str());
  }
}

}  // namespace weir::ops
