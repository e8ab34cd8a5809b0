#pragma once

#include "distributed/transport.h"

namespace weir::distributed {

// What happens to messages on their way, for tests of faults. Chosen by seeded random numbers: a run can be repeated.
struct LoopbackFaults {
  uint64_t seed = 0;
  double lose_request = 0, lose_answer = 0;  // the caller sees a lost connection
  double delay = 0;                          // by up to a few milliseconds, so that calls overtake each other
  int close_after = -1;                      // after so many calls a listener is gone, like a killed task; -1: never
};

// A transport within the process: addresses are names. Messages are copied, as a network does.
std::shared_ptr<Transport> make_loopback(const LoopbackFaults& faults = {});

}  // namespace weir::distributed
