#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distributed/transport.h"

namespace weir::distributed {

// What happens to messages on their way, for tests of faults. The fate of a message follows from the seed, who sends it to
// whom, its method, and how many such there were before: not from when threads run. So a run can be repeated as far as
// its tasks say the same things to each other.
struct LoopbackFaults {
  uint64_t seed = 0;
  double lose_request = 0, lose_answer = 0;  // the caller sees a lost connection
  double delay = 0;                          // by up to a few milliseconds, so that calls overtake each other
  double stall = 0;                          // by up to a fifth of a second, as a task that is stopped for a while
  double repeat = 0;                         // the request comes twice; what the second answers nobody hears

  // Whoever listens at the address is gone when a call of it comes, or is answered: its calls are lost at once, and
  // `killed` is told, in a thread of the transport that must not be kept.
  struct Kill {
    std::string address = {};
    std::string method = {};  // "RunGraph"
    int call = 0;             // the first is 0
    bool at_answer = false;
  };
  std::vector<Kill> kills = {};
  std::function<void(const std::string& address)> killed = {};
};

// A transport within the process: addresses are names. Messages are copied, as a network does.
std::shared_ptr<Transport> make_loopback(const LoopbackFaults& faults = {});
// The same network, for this caller. REQUIRES: `loopback` is what make_loopback made.
std::shared_ptr<Transport> loopback_of(const std::shared_ptr<Transport>& loopback, std::string caller);

}  // namespace weir::distributed
