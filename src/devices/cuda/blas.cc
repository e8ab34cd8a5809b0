#include "devices/cuda/blas.h"

#include <limits>

#include "devices/cuda/open_library.h"

namespace weir::cuda {
namespace {

using accelerator::Product;

bool find_all(void* library, BlasApi& api) {
  return find(library, "cublasCreate_v2", api.create) && find(library, "cublasDestroy_v2", api.destroy) &&
         find(library, "cublasSetStream_v2", api.set_stream) && find(library, "cublasSgemm_v2", api.sgemm) &&
         find(library, "cublasDgemm_v2", api.dgemm) && find(library, "cublasSgemmStridedBatched", api.sgemm_batched) &&
         find(library, "cublasDgemmStridedBatched", api.dgemm_batched);
}

// cuBLAS goes by columns: what it sees are the transposed matrices, c^T = b^T a^T.
template <class T, class Single, class Batched>
int multiply_as(Single single, Batched batched, BlasHandle handle, const Product& p, const void* a, const void* b,
                void* c) {
  const T one = 1, zero = 0;
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  const int a_row = p.transpose_a ? m : k, b_row = p.transpose_b ? k : n;
  const auto *as = static_cast<const T*>(a), *bs = static_cast<const T*>(b);
  auto* cs = static_cast<T*>(c);
  if (p.batch == 1) {
    return single(handle, p.transpose_b, p.transpose_a, n, m, k, &one, bs, b_row, as, a_row, &zero, cs, n);
  }
  return batched(handle, p.transpose_b, p.transpose_a, n, m, k, &one, bs, b_row, p.b_batch, as, a_row, p.a_batch, &zero,
                 cs, n, p.m * p.n, static_cast<int>(p.batch));
}

}  // namespace

const BlasApi* open_blas() {
  static BlasApi api{};
  static const bool there = [] {
    void* library = open_toolkit_library("libcublas.so", {"13", "12", "11"});
    return library && find_all(library, api);
  }();
  return there ? &api : nullptr;
}

Blas::Blas(const BlasApi& api, Stream stream) : api_(api) {
  if (api_.create(&handle_) != kSuccess) {
    handle_ = nullptr;
  } else if (api_.set_stream(handle_, stream) != kSuccess) {
    api_.destroy(handle_);
    handle_ = nullptr;
  }
}

Blas::~Blas() {
  if (handle_) api_.destroy(handle_);
}

bool Blas::multiply(const Product& p, const void* a, const void* b, void* c) {
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  if (!handle_ || p.m > kMost || p.n > kMost || p.k > kMost || p.batch > kMost) return false;
  std::lock_guard lock(mutex_);
  const int status = p.type == DType::Float64 ? multiply_as<double>(api_.dgemm, api_.dgemm_batched, handle_, p, a, b, c)
                                              : multiply_as<float>(api_.sgemm, api_.sgemm_batched, handle_, p, a, b, c);
  return status == kSuccess;
}

}  // namespace weir::cuda
