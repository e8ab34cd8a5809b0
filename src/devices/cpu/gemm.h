#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "devices/cpu/gemm_kernels.h"

namespace weir::cpu {

// One result: its column or channel, and its place in the memory of all.
template <class T>
T finished(T x, const Epilogue<T>& epilogue, int64_t column, int64_t at) {
  if (epilogue.scale) x *= epilogue.scale[column];
  if (epilogue.bias) x += epilogue.bias[column];
  if (epilogue.side) x += epilogue.side[at];
  if (epilogue.activation == Activation::None) return x;
  if (x < T(0)) return T(0);
  return epilogue.activation == Activation::Relu6 && x > T(6) ? T(6) : x;
}

// c[m,n] = epilogue(op(a)[m,k] * op(b)[k,n] [+ c]), row-major, for each product of a batch.
template <class T>
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  int64_t lda = 0;           // distance of the rows as stored
  bool transpose_a = false;  // a is stored as [k,m]
  const T* b = nullptr;
  int64_t ldb = 0;
  bool transpose_b = false;  // b is stored as [n,k]
  bool packed_b = false;     // b is what pack_matrix made of it; ldb and transpose_b mean nothing then
  T* c = nullptr;            // overlaps neither a nor b
  int64_t ldc = 0;
  bool accumulate = false;  // add to what c holds; otherwise c is not read
  Epilogue<T> epilogue = {};
  int64_t batch = 1;                                 // products of the same shape ...
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;  // ... and the distances of their matrices
};

// Bytes of scratch memory for a product of this shape on this many threads. Looks at the sizes only, not at pointers.
template <class T>
size_t gemm_scratch_bytes(const Gemm<T>& gemm, int threads);

// For float and double. `scratch` is aligned to 64 bytes. The result has the same bits for any number of threads.
// Thread-safe as long as scratch and c are not shared.
template <class T>
void gemm(ThreadPool& pool, const Gemm<T>& gemm, void* scratch);

// For matrices that many products multiply with: b[k,n] (transposed: stored as [n,k]) in the order in which products
// read it, which saves them the strides over a large matrix. The order is that of this processor; nothing else can read
// it.
template <class T>
int64_t packed_matrix_elements(int64_t k, int64_t n);
template <class T>
struct PackMatrix {
  int64_t k = 0, n = 0;
  const T* b = nullptr;
  int64_t ldb = 0;
  bool transpose = false;
  T* packed = nullptr;
};
template <class T>
void pack_matrix(ThreadPool& pool, const PackMatrix<T>& matrix);

extern template size_t gemm_scratch_bytes(const Gemm<float>&, int);
extern template size_t gemm_scratch_bytes(const Gemm<double>&, int);
extern template void gemm(ThreadPool&, const Gemm<float>&, void*);
extern template void gemm(ThreadPool&, const Gemm<double>&, void*);
extern template int64_t packed_matrix_elements<float>(int64_t, int64_t);
extern template void pack_matrix(ThreadPool&, const PackMatrix<float>&);

}  // namespace weir::cpu
