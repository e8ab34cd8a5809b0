#pragma once

#include <utility>
#include <vector>

#include "weir/graph.h"

namespace weir::testing {

using Feeds = std::vector<std::pair<Output, Tensor>>;

// The plainest executor there is, against which sessions are checked: runs one kernel after another in order of
// creation, each on freshly allocated memory. Stateless nodes only. Errors name the node and its line.
std::vector<Tensor> interpret(const std::vector<Output>& fetches, const Feeds& feeds = {});

}  // namespace weir::testing
