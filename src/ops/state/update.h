#pragma once

#include <array>

#include "base/racing_writes.h"
#include "base/thread_pool.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/math/functors.h"
#include "ops/state/variable_state.h"

// What the operations that write to variables share. Each comes in two spellings with one kernel: a Ref input that is
// passed on to the output, or a resource handle and no output.
namespace weir::ops {

constexpr int64_t kUpdateGrain = 16384;  // elements of a parallel block

// The variable behind input `index`. Handles carry no element type, so kernels check it.
VariableState& variable_of(const KernelContext& c, int index, DType dtype);

// Shape function of Apply* and SparseApply*, by the signature: references and `grad` (or `delta`) have one shape,
// `indices` is a vector with one entry for each row of a sparse `grad`, and all else is scalar.
void infer_apply(InferContext& c);

// Calls `body` with the elements of the variables behind inputs 0 .. count-1, which all have the shape of input `grad`.
// Nobody else reads or writes them meanwhile, unless the node says use_locking=False. Passes the reference on.
void update_dense(KernelContext& c, DType dtype, int count, int grad,
                  FunctionRef<void(void* const* data, int64_t elements)> body);

// The same for rows: calls `body` once for each index with that row of every variable and the matching row of `grad`.
// A scalar `grad`, which shape functions admit where it means something, is passed for every row.
// Indices may repeat: calls for one row come in their order, those for different rows from several threads. Other runs
// read meanwhile, and write unless the node says use_locking=True: nobody waits for a table because of some rows.
void update_rows(KernelContext& c, DType dtype, int count, int grad, int indices,
                 FunctionRef<void(void* const* rows, const void* grad, int64_t elements)> body);

// update_dense with typed elements, in parallel blocks: body(const std::array<T*, N>& data, begin, end).
template <class T, int N, class Body>
void update_blocks(KernelContext& c, int grad, const Body& body) {
  update_dense(c, dtype_of<T>, N, grad, [&](void* const* data, int64_t elements) {
    std::array<T*, N> typed;
    for (size_t i = 0; i < N; ++i) typed[i] = static_cast<T*>(data[i]);
    c.pool().parallel_for(elements, kUpdateGrain, [&](int64_t begin, int64_t end) {
      [[maybe_unused]] RacingWrites racing;
      body(typed, begin, end);
    });
  });
}

// update_rows with typed elements: body(const std::array<T*, N>& rows, const T* grad, elements).
template <class T, int N, class Body>
void update_typed_rows(KernelContext& c, int grad, int indices, const Body& body) {
  update_rows(c, dtype_of<T>, N, grad, indices, [&](void* const* rows, const void* g, int64_t elements) {
    std::array<T*, N> typed;
    for (size_t i = 0; i < N; ++i) typed[i] = static_cast<T*>(rows[i]);
    body(typed, static_cast<const T*>(g), elements);
  });
}

template <class T>
Wide<T> wide_scalar(const KernelContext& c, int index) {
  return static_cast<Wide<T>>(c.scalar<T>(index));
}

}  // namespace weir::ops
