#pragma once

#include <string>

#include "weir/session.h"

namespace weir {

// The events of a StepStats message, serialised: what the tasks of a cluster did in one step. Devices have their tasks'
// names, and a lane each. Bytes that are no such message have none.
RunTrace trace_from_stats(const std::string& step_stats);

}  // namespace weir
