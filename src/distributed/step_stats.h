#pragma once

#include <string>

#include "proto/step_stats.pb.h"
#include "weir/session.h"

namespace weir::distributed {

// The trace as a StepStats message, serialised, whose devices are those of a task.
std::string stats_of_task(const RunTrace& trace, const std::string& task);

// When a call began and ended, by the clock of who made it, in microseconds since the epoch.
struct CallTime {
  int64_t begin = 0, end = 0;
};
// What a task did in a call happened between its beginning and its end. Where its clock says otherwise it is another
// machine's, and all times are moved by as much as brings them into the middle.
void fit_clock(proto::StepStats& stats, const CallTime& call);
int64_t wall_clock_us();

}  // namespace weir::distributed
