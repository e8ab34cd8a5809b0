#pragma once

#include <stdint.h>

#include "graph/elementwise_fn.h"

namespace weir {
class ThreadPool;
}

namespace weir::cpu {

// Any reduction over adjacent axes: x is [outer, reduced, inner], y is [outer, inner].
struct ReduceShape {
  int64_t outer = 1;
  int64_t reduced = 1;
  int64_t inner = 1;
};

// Bytes that reduce() needs as scratch, at most a 16th of x; aligned as floats. Often 0.
int64_t reduce_scratch_bytes(const ReduceShape& shape);

// Sums are taken in short runs, then over the runs: the error grows with the logarithm of the number of elements, not
// with the number. The order of additions depends on the shape alone. x and y do not overlap.
void reduce(ReduceFn fn, const float* x, const ReduceShape& shape, float* y, void* scratch, ThreadPool& pool);

// The parts that it is made of, for this machine's instruction set: all of x[0 .. n), and y[c] = all of x[0 .. rows)[c]
// with rows `stride` floats apart. Mean is Sum here.
using ReduceRun = float (*)(const float* x, int64_t n);
using ReduceColumns = void (*)(const float* x, int64_t rows, int64_t stride, int64_t cols, float* y);
ReduceRun reduce_run(ReduceFn fn);
ReduceColumns reduce_columns(ReduceFn fn);

// Index along the reduced axis of the first largest (smallest) element. NaN is passed over; 0 when there is nothing
// else.
enum class ArgFn : uint8_t { Max, Min };
void arg_reduce(ArgFn fn, const float* x, const ReduceShape& shape, int64_t* y, ThreadPool& pool);

}  // namespace weir::cpu
