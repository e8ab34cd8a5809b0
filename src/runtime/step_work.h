#pragma once

#include "runtime/plan.h"

namespace weir {

// Fills in how much a step that has just run read, wrote and computed: `input_bytes`, `output_bytes` and `flops`. A
// table of which only some rows are used (Gather, scatter updates) counts as those rows; what only points at its input
// (views, reads of variables) reads nothing.
void count_work(const Step& step, const Value* slots, RunTrace::Event& event);

}  // namespace weir
