#pragma once

#include "collectives/groups.h"
#include "graph/op_def.h"
#include "ops/kernel.h"

namespace weir::ops {

// Horovod's numbers of reductions.
enum class ReduceOp : int64_t { Average = 0, Sum = 1, Adasum = 2, Min = 3, Max = 4, Product = 5 };

// Hands the input to the group's engine, under the node's name; the output is what comes back.
void start_collective(KernelContext& c, Completion done, collectives::Engine& engine, collectives::Key key);

// The types that are moved, and those that are reduced as well.
#define WEIR_MOVED_TYPES \
  "T:type{uint8,int8,uint16,int16,int32,int64,half,float,double,bool,bfloat16,uint32,uint64,complex64,complex128}"
#define WEIR_REDUCED_TYPES "T:type{int32,int64,half,float,double,bfloat16,int8,uint8,int16,uint16,uint32,uint64}"

}  // namespace weir::ops
