#pragma once

#include "devices/opencl/api.h"

namespace weir::opencl {

// The part of CLBlast's interface in C that is used. Statuses: 0 is success.
struct BlastApi {
  int (*sgemm)(int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k, float alpha, Mem a,
               size_t a_offset, size_t a_row, Mem b, size_t b_offset, size_t b_row, float beta, Mem c, size_t c_offset,
               size_t c_row, CommandQueue*, Event*);
  int (*dgemm)(int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k, double alpha, Mem a,
               size_t a_offset, size_t a_row, Mem b, size_t b_offset, size_t b_row, double beta, Mem c, size_t c_offset,
               size_t c_row, CommandQueue*, Event*);
  int (*sgemm_batched)(int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k, float alpha, Mem a,
                       size_t a_offset, size_t a_row, size_t a_batch, Mem b, size_t b_offset, size_t b_row,
                       size_t b_batch, float beta, Mem c, size_t c_offset, size_t c_row, size_t c_batch, size_t batch,
                       CommandQueue*, Event*);
  int (*dgemm_batched)(int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k, double alpha, Mem a,
                       size_t a_offset, size_t a_row, size_t a_batch, Mem b, size_t b_offset, size_t b_row,
                       size_t b_batch, double beta, Mem c, size_t c_offset, size_t c_row, size_t c_batch, size_t batch,
                       CommandQueue*, Event*);
};
// Null: libclblast.so.1 is not on the machine. It stays open. Thread-safe, as CLBlast is.
const BlastApi* open_blast();

}  // namespace weir::opencl
