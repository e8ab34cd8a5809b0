#pragma once

#include <vector>

#include "weir/session.h"

namespace weir::testing {

using FeedList = std::vector<Feed>;

// The plainest executor there is, against which sessions are checked: runs one kernel after another in order of
// creation, each on freshly allocated memory. Stateless nodes only. Errors name the node and its line.
std::vector<Tensor> interpret(const std::vector<Output>& fetches, const FeedList& feeds = {});

}  // namespace weir::testing
