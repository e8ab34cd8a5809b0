#pragma once

#include <mutex>

#include "devices/accelerator/libraries.h"
#include "devices/cuda/api.h"

namespace weir::cuda {

// The part of cuBLAS that is used. Statuses: 0 is success.
using BlasHandle = struct cublasContext*;
struct BlasApi {
  int (*create)(BlasHandle*);
  int (*destroy)(BlasHandle);
  int (*set_stream)(BlasHandle, Stream);
  int (*sgemm)(BlasHandle, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*,
               float*, int);
  int (*dgemm)(BlasHandle, int, int, int, int, int, const double*, const double*, int, const double*, int,
               const double*, double*, int);
  int (*sgemm_batched)(BlasHandle, int, int, int, int, int, const float*, const float*, int, long long, const float*,
                       int, long long, const float*, float*, int, long long, int);
  int (*dgemm_batched)(BlasHandle, int, int, int, int, int, const double*, const double*, int, long long, const double*,
                       int, long long, const double*, double*, int, long long, int);
};
// Null: it is not on the machine. It stays open.
const BlasApi* open_blas();

// cuBLAS on a stream. Single precision is computed in single precision: its TF32 is never asked for. Thread-safe; the
// device's context is the calling thread's.
class Blas {
 public:
  Blas(const BlasApi& api, Stream stream);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  // False: cuBLAS refuses.
  bool multiply(const accelerator::Product& p, const void* a, const void* b, void* c);

 private:
  const BlasApi& api_;
  std::mutex mutex_;
  BlasHandle handle_ = nullptr;
};

}  // namespace weir::cuda
