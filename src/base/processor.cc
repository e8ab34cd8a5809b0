#include "base/processor.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace weir {

#if defined(__linux__)

int current_processor() { return sched_getcpu(); }

bool leave_processor(int processor) {
  cpu_set_t all;
  if (processor < 0 || processor >= CPU_SETSIZE || sched_getaffinity(0, sizeof(all), &all) != 0) return false;
  cpu_set_t others = all;
  CPU_CLR(static_cast<size_t>(processor), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof(others), &others) != 0) return false;
  return sched_setaffinity(0, sizeof(all), &all) == 0;
}

#else

int current_processor() { return -1; }
bool leave_processor(int) { return false; }

#endif

}  // namespace weir
