#pragma once

#include "devices/cpu/reduce.h"

namespace weir::cpu {

constexpr int kReduceFns = static_cast<int>(ReduceFn::SumSquares) + 1;

// The reductions of one instruction set. Mean is Sum here: reduce() divides.
struct ReduceTable {
  // All of x[0 .. n).
  ReduceRun run[kReduceFns];
  // y[c] = all of x[0 .. rows)[c], rows `stride` floats apart.
  ReduceColumns columns[kReduceFns];
  // Index of the first largest (ArgFn::Max) element of x[0 .. n).
  int64_t (*arg_run[2])(const float* x, int64_t n);
};

namespace portable {
extern const ReduceTable kReduceTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const ReduceTable kReduceTable;
}
namespace avx512 {
extern const ReduceTable kReduceTable;
}
#endif

}  // namespace weir::cpu
