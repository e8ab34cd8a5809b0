#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "devices/accelerator/libraries.h"
#include "devices/cuda/api.h"

namespace weir::cuda {

// The part of cuDNN that is used: convolutions by descriptors, which version 7 and all later ones have. Statuses: 0 is
// success.
using DnnHandle = struct cudnnContext*;
using DnnTensor = struct cudnnTensorStruct*;
using DnnFilter = struct cudnnFilterStruct*;
using DnnConvolution = struct cudnnConvolutionStruct*;

// What cuDNN thinks of an algorithm; its own layout.
struct DnnAlgorithm {
  int number;
  int status;
  float time;
  size_t memory;
  int determinism;
  int math;
  int reserved[3];
};

struct DnnApi {
  int (*create)(DnnHandle*);
  int (*destroy)(DnnHandle);
  int (*set_stream)(DnnHandle, Stream);
  int (*create_tensor)(DnnTensor*);
  int (*set_tensor)(DnnTensor, int format, int type, int n, int c, int h, int w);
  int (*destroy_tensor)(DnnTensor);
  int (*create_filter)(DnnFilter*);
  int (*set_filter)(DnnFilter, int type, int format, int k, int c, int h, int w);
  int (*destroy_filter)(DnnFilter);
  int (*create_convolution)(DnnConvolution*);
  int (*set_convolution)(DnnConvolution, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
                         int dilation_w, int mode, int type);
  int (*set_math)(DnnConvolution, int);
  int (*destroy_convolution)(DnnConvolution);
  int (*forward_algorithms)(DnnHandle, DnnTensor x, DnnFilter w, DnnConvolution, DnnTensor y, int most, int* count,
                            DnnAlgorithm*);
  int (*input_algorithms)(DnnHandle, DnnFilter w, DnnTensor dy, DnnConvolution, DnnTensor dx, int most, int* count,
                          DnnAlgorithm*);
  int (*filter_algorithms)(DnnHandle, DnnTensor x, DnnTensor dy, DnnConvolution, DnnFilter dw, int most, int* count,
                           DnnAlgorithm*);
  int (*forward)(DnnHandle, const void* alpha, DnnTensor, const void* x, DnnFilter, const void* w, DnnConvolution,
                 int algorithm, void* scratch, size_t bytes, const void* beta, DnnTensor, void* y);
  int (*backward_input)(DnnHandle, const void* alpha, DnnFilter, const void* w, DnnTensor, const void* dy,
                        DnnConvolution, int algorithm, void* scratch, size_t bytes, const void* beta, DnnTensor,
                        void* dx);
  int (*backward_filter)(DnnHandle, const void* alpha, DnnTensor, const void* x, DnnTensor, const void* dy,
                         DnnConvolution, int algorithm, void* scratch, size_t bytes, const void* beta, DnnFilter,
                         void* dw);
};
// Null: it is not on the machine. It stays open.
const DnnApi* open_dnn();

// cuDNN's convolutions on a stream, by the fastest algorithm that it knows of that gives the same bits every time, in
// full precision, within the scratch memory that it may have. Thread-safe; the device's context is the calling
// thread's.
class Dnn {
 public:
  Dnn(const DnnApi& api, Stream stream, size_t most_scratch);
  ~Dnn();
  Dnn(const Dnn&) = delete;
  Dnn& operator=(const Dnn&) = delete;

  // Nothing: cuDNN has no such algorithm.
  std::optional<size_t> scratch(const accelerator::Convolution& c);
  // False: cuDNN refuses, and so it will from now on.
  bool convolve(const accelerator::Convolution& c, const void* first, const void* second, void* result, void* scratch);

 private:
  struct Prepared;
  Prepared& prepared(const accelerator::Convolution& c);  // REQUIRES: mutex_ is held

  const DnnApi& api_;
  const size_t most_scratch_;
  std::mutex mutex_;
  DnnHandle handle_ = nullptr;
  std::map<accelerator::Convolution, std::unique_ptr<Prepared>> prepared_;
};

}  // namespace weir::cuda
