#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distributed/transport.h"

namespace weir::distributed {

// What happens to messages on their way, for tests of faults. Chosen by seeded random numbers: a run can be repeated.
struct LoopbackFaults {
  uint64_t seed = 0;
  double lose_request = 0, lose_answer = 0;  // the caller sees a lost connection
  double delay = 0;                          // by up to a few milliseconds, so that calls overtake each other
  double stall = 0;                          // by up to a fifth of a second, as a task that is stopped for a while
  double repeat = 0;                         // the request comes twice; what the second answers nobody hears

  // Messages, requests and answers alike, have numbers. When one comes to an end here, whoever listens at the address
  // is gone: its calls are lost at once, and `killed` is told, in a thread of the transport that must not be kept.
  struct Kill {
    int message = 0;
    std::string address = {};
  };
  std::vector<Kill> kills = {};
  std::function<void(const std::string& address)> killed = {};
};

// A transport within the process: addresses are names. Messages are copied, as a network does.
std::shared_ptr<Transport> make_loopback(const LoopbackFaults& faults = {});

}  // namespace weir::distributed
