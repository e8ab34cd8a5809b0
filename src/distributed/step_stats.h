#pragma once

#include <string>

#include "weir/session.h"

namespace weir::distributed {

// The trace as a StepStats message, serialised, whose devices are those of a task.
std::string stats_of_task(const RunTrace& trace, const std::string& task);

}  // namespace weir::distributed
