#include <atomic>

#include "tests/support/cuda_stand_in.h"

// cuBLAS and cuDNN as far as the driver uses them, by plain loops on the stream of the handle.
namespace weir::testing {
namespace {

std::atomic<int64_t> calls{0};

struct Handle {
  cuda::Stream stream = nullptr;
};

template <class H>
Handle& of(H handle) {
  return *reinterpret_cast<Handle*>(handle);
}

template <class H>
int create(H* handle) {
  *handle = reinterpret_cast<H>(new Handle);
  return 0;
}
template <class H>
int destroy(H handle) {
  delete &of(handle);
  return 0;
}
template <class H>
int set_stream(H handle, cuda::Stream stream) {
  of(handle).stream = stream;
  return 0;
}

// By columns, as BLAS has it.
template <class T>
int multiply(cuda::BlasHandle handle, int turn_a, int turn_b, int m, int n, int k, const T* alpha, const T* a, int lda,
             long long a_batch, const T* b, int ldb, long long b_batch, const T* beta, T* c, int ldc, long long c_batch,
             int batch) {
  if (const int failed = CudaStandIn::status_of("cublasGemm")) return failed;
  if (lda < (turn_a ? k : m) || ldb < (turn_b ? n : k) || ldc < m) return 7;
  ++calls;
  CudaStandIn::begin(of(handle).stream, [=, one = *alpha, old = *beta] {
    const auto *as = reinterpret_cast<const T*>(CudaStandIn::find(a)),
               *bs = reinterpret_cast<const T*>(CudaStandIn::find(b));
    auto* cs = reinterpret_cast<T*>(CudaStandIn::find(c));
    for (int q = 0; q < batch; ++q, as += a_batch, bs += b_batch, cs += c_batch) {
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
          T sum = 0;
          for (int l = 0; l < k; ++l)
            sum += as[turn_a ? l + i * lda : i + l * lda] * bs[turn_b ? j + l * ldb : l + j * ldb];
          cs[i + j * ldc] = one * sum + (old == 0 ? T{0} : old * cs[i + j * ldc]);
        }
      }
    }
  });
  return 0;
}
template <class T>
int multiply_one(cuda::BlasHandle handle, int turn_a, int turn_b, int m, int n, int k, const T* alpha, const T* a,
                 int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
  return multiply<T>(handle, turn_a, turn_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}

// A descriptor of any kind.
struct Numbers {
  int type = 0;
  int v[8] = {};
};
template <class D>
int create_numbers(D* descriptor) {
  *descriptor = reinterpret_cast<D>(new Numbers);
  return 0;
}
template <class D>
int destroy_numbers(D descriptor) {
  delete reinterpret_cast<Numbers*>(descriptor);
  return 0;
}
template <class D>
const Numbers& read(D descriptor) {
  return *reinterpret_cast<Numbers*>(descriptor);
}
int set_tensor(cuda::DnnTensor t, int format, int type, int n, int c, int h, int w) {
  *reinterpret_cast<Numbers*>(t) = {type, {n, c, h, w}};
  return format == 0 ? 0 : 3000;
}
int set_filter(cuda::DnnFilter f, int type, int format, int k, int c, int h, int w) {
  *reinterpret_cast<Numbers*>(f) = {type, {k, c, h, w}};
  return format == 0 ? 0 : 3000;
}
int set_convolution(cuda::DnnConvolution d, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
                    int dilation_w, int mode, int type) {
  *reinterpret_cast<Numbers*>(d) = {type, {pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w}};
  return mode == 1 ? 0 : 3000;
}

constexpr int kServes = 1;
constexpr size_t kScratch = 512;

int offer(int most, int* count, cuda::DnnAlgorithm* found) {
  if (const int failed = CudaStandIn::status_of("cudnnGetConvolutionAlgorithm")) return failed;
  if (most < 4) return 2000;
  found[0] = {7, 0, 1, 0, 0, 3, {}};                // other bits every time
  found[1] = {6, 0, 2, size_t{1} << 40, 1, 3, {}};  // more memory than there is
  found[2] = {5, 0, 3, 0, 1, 1, {}};                // less precision
  found[3] = {kServes, 0, 4, kScratch, 1, 3, {}};
  *count = 4;
  return 0;
}

// Whether the sizes fit together, as cuDNN checks it.
bool fits(const Numbers& x, const Numbers& w, const Numbers& y, const Numbers& c) {
  for (int d = 0; d < 2; ++d) {
    const int extent = (w.v[2 + d] - 1) * c.v[4 + d] + 1;
    if ((x.v[2 + d] + 2 * c.v[d] - extent) / c.v[2 + d] + 1 != y.v[2 + d]) return false;
  }
  return x.v[0] == y.v[0] && x.v[1] == w.v[1] && w.v[0] == y.v[1] && x.type == w.type && x.type == y.type;
}

enum class Way { Forward, Input, Filter };

// For every tap of every result: the result, the image and the filter entry meet.
template <class T>
void convolve(Way way, const Numbers& x, const Numbers& w, const Numbers& y, const Numbers& c, T* image, T* filter,
              T* result) {
  auto elements = [](const Numbers& n) { return n.v[0] * n.v[1] * n.v[2] * n.v[3]; };
  if (way == Way::Forward) std::fill_n(result, elements(y), T{0});
  if (way == Way::Input) std::fill_n(image, elements(x), T{0});
  if (way == Way::Filter) std::fill_n(filter, elements(w), T{0});
  for (int n = 0; n < y.v[0]; ++n) {
    for (int k = 0; k < y.v[1]; ++k) {
      for (int q = 0; q < y.v[2] * y.v[3]; ++q) {
        T& out = result[(n * y.v[1] + k) * y.v[2] * y.v[3] + q];
        for (int channel = 0; channel < x.v[1]; ++channel) {
          for (int tap = 0; tap < w.v[2] * w.v[3]; ++tap) {
            const int h = q / y.v[3] * c.v[2] - c.v[0] + tap / w.v[3] * c.v[4];
            const int r = q % y.v[3] * c.v[3] - c.v[1] + tap % w.v[3] * c.v[5];
            if (h < 0 || h >= x.v[2] || r < 0 || r >= x.v[3]) continue;
            T& in = image[((n * x.v[1] + channel) * x.v[2] + h) * x.v[3] + r];
            T& weight = filter[(k * w.v[1] + channel) * w.v[2] * w.v[3] + tap];
            if (way == Way::Forward) out += in * weight;
            if (way == Way::Input) in += out * weight;
            if (way == Way::Filter) weight += in * out;
          }
        }
      }
    }
  }
}

int begin(cuda::DnnHandle handle, Way way, const Numbers& x, const Numbers& w, const Numbers& y, const Numbers& c,
          const void* image, const void* filter, const void* result, int algorithm, const void* scratch, size_t bytes) {
  if (const int failed = CudaStandIn::status_of("cudnnConvolution")) return failed;
  if (algorithm != kServes || !scratch || bytes < kScratch || !fits(x, w, y, c)) return 2000;
  ++calls;
  CudaStandIn::begin(of(handle).stream, [=] {
    std::fill_n(CudaStandIn::find(scratch), bytes, char{-1});
    char *i = CudaStandIn::find(image), *f = CudaStandIn::find(filter), *r = CudaStandIn::find(result);
    if (x.type == 1) {
      convolve(way, x, w, y, c, reinterpret_cast<double*>(i), reinterpret_cast<double*>(f),
               reinterpret_cast<double*>(r));
    } else {
      convolve(way, x, w, y, c, reinterpret_cast<float*>(i), reinterpret_cast<float*>(f), reinterpret_cast<float*>(r));
    }
  });
  return 0;
}

const cuda::BlasApi* blas() {
  static const cuda::BlasApi api = {
      .create = create<cuda::BlasHandle>,
      .destroy = destroy<cuda::BlasHandle>,
      .set_stream = set_stream<cuda::BlasHandle>,
      .sgemm = multiply_one<float>,
      .dgemm = multiply_one<double>,
      .sgemm_batched = multiply<float>,
      .dgemm_batched = multiply<double>,
  };
  return &api;
}

const cuda::DnnApi* dnn() {
  using namespace cuda;
  static const DnnApi api = {
      .create = create<DnnHandle>,
      .destroy = destroy<DnnHandle>,
      .set_stream = set_stream<DnnHandle>,
      .create_tensor = create_numbers<DnnTensor>,
      .set_tensor = set_tensor,
      .destroy_tensor = destroy_numbers<DnnTensor>,
      .create_filter = create_numbers<DnnFilter>,
      .set_filter = set_filter,
      .destroy_filter = destroy_numbers<DnnFilter>,
      .create_convolution = create_numbers<DnnConvolution>,
      .set_convolution = set_convolution,
      .set_math = [](DnnConvolution, int math) { return math == 3 ? 0 : 3000; },
      .destroy_convolution = destroy_numbers<DnnConvolution>,
      .forward_algorithms = [](DnnHandle, DnnTensor, DnnFilter, DnnConvolution, DnnTensor, int most, int* count,
                               DnnAlgorithm* found) { return offer(most, count, found); },
      .input_algorithms = [](DnnHandle, DnnFilter, DnnTensor, DnnConvolution, DnnTensor, int most, int* count,
                             DnnAlgorithm* found) { return offer(most, count, found); },
      .filter_algorithms = [](DnnHandle, DnnTensor, DnnTensor, DnnConvolution, DnnFilter, int most, int* count,
                              DnnAlgorithm* found) { return offer(most, count, found); },
      .forward =
          [](DnnHandle handle, const void*, DnnTensor x, const void* image, DnnFilter w, const void* filter,
             DnnConvolution c, int algorithm, void* scratch, size_t bytes, const void*, DnnTensor y, void* result) {
            return begin(handle, Way::Forward, read(x), read(w), read(y), read(c), image, filter, result, algorithm,
                         scratch, bytes);
          },
      .backward_input =
          [](DnnHandle handle, const void*, DnnFilter w, const void* filter, DnnTensor y, const void* result,
             DnnConvolution c, int algorithm, void* scratch, size_t bytes, const void*, DnnTensor x, void* image) {
            return begin(handle, Way::Input, read(x), read(w), read(y), read(c), image, filter, result, algorithm,
                         scratch, bytes);
          },
      .backward_filter =
          [](DnnHandle handle, const void*, DnnTensor x, const void* image, DnnTensor y, const void* result,
             DnnConvolution c, int algorithm, void* scratch, size_t bytes, const void*, DnnFilter w, void* filter) {
            return begin(handle, Way::Filter, read(x), read(w), read(y), read(c), image, filter, result, algorithm,
                         scratch, bytes);
          },
  };
  return &api;
}

}  // namespace

cuda::Libraries CudaStandIn::libraries() { return {blas, dnn}; }
int64_t CudaStandIn::library_calls() { return calls; }

}  // namespace weir::testing
