#pragma once

namespace weir {

// The processor that the calling thread runs on at the moment, or -1 where that cannot be known. Some nanoseconds.
int current_processor();

// Moves the calling thread to another of the processors that it may use, which stay the same ones. False where there is
// no other or the system refuses.
bool leave_processor(int processor);

}  // namespace weir
