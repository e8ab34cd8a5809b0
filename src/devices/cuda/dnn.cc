#include "devices/cuda/dnn.h"

#include "devices/cuda/open_library.h"

namespace weir::cuda {
namespace {

using accelerator::Convolution;
using Way = Convolution::Way;

// cuDNN's numbers.
constexpr int kFloat = 0, kDouble = 1;
constexpr int kNchw = 0;
constexpr int kCrossCorrelation = 1;
constexpr int kDefaultMath = 0, kFmaMath = 3;
constexpr int kDeterministic = 1;
constexpr int kMostAlgorithms = 16;

bool find_all(void* library, DnnApi& api) {
  return find(library, "cudnnCreate", api.create) && find(library, "cudnnDestroy", api.destroy) &&
         find(library, "cudnnSetStream", api.set_stream) &&
         find(library, "cudnnCreateTensorDescriptor", api.create_tensor) &&
         find(library, "cudnnSetTensor4dDescriptor", api.set_tensor) &&
         find(library, "cudnnDestroyTensorDescriptor", api.destroy_tensor) &&
         find(library, "cudnnCreateFilterDescriptor", api.create_filter) &&
         find(library, "cudnnSetFilter4dDescriptor", api.set_filter) &&
         find(library, "cudnnDestroyFilterDescriptor", api.destroy_filter) &&
         find(library, "cudnnCreateConvolutionDescriptor", api.create_convolution) &&
         find(library, "cudnnSetConvolution2dDescriptor", api.set_convolution) &&
         find(library, "cudnnSetConvolutionMathType", api.set_math) &&
         find(library, "cudnnDestroyConvolutionDescriptor", api.destroy_convolution) &&
         find(library, "cudnnGetConvolutionForwardAlgorithm_v7", api.forward_algorithms) &&
         find(library, "cudnnGetConvolutionBackwardDataAlgorithm_v7", api.input_algorithms) &&
         find(library, "cudnnGetConvolutionBackwardFilterAlgorithm_v7", api.filter_algorithms) &&
         find(library, "cudnnConvolutionForward", api.forward) &&
         find(library, "cudnnConvolutionBackwardData", api.backward_input) &&
         find(library, "cudnnConvolutionBackwardFilter", api.backward_filter);
}

}  // namespace

const DnnApi* open_dnn() {
  static DnnApi api{};
  static const bool there = [] {
    void* library = open_toolkit_library("libcudnn.so", {"9", "8", "7"});
    return library && find_all(library, api);
  }();
  return there ? &api : nullptr;
}

// A convolution's descriptors and its algorithm.
struct Dnn::Prepared {
  explicit Prepared(const DnnApi& a) : api(a) {}
  ~Prepared() {
    if (image) api.destroy_tensor(image);
    if (result) api.destroy_tensor(result);
    if (filter) api.destroy_filter(filter);
    if (convolution) api.destroy_convolution(convolution);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  bool describe(const Convolution& c) {
    const int type = c.type == DType::Float64 ? kDouble : kFloat;
    if (api.create_tensor(&image) != kSuccess || api.create_tensor(&result) != kSuccess ||
        api.create_filter(&filter) != kSuccess || api.create_convolution(&convolution) != kSuccess) {
      return false;
    }
    if (api.set_tensor(image, kNchw, type, c.batch, c.in_channels, c.in_height, c.in_width) != kSuccess ||
        api.set_tensor(result, kNchw, type, c.batch, c.out_channels, c.out_height, c.out_width) != kSuccess ||
        api.set_filter(filter, type, kNchw, c.out_channels, c.in_channels, c.height, c.width) != kSuccess ||
        api.set_convolution(convolution, c.pad_height, c.pad_width, c.stride_height, c.stride_width, c.dilation_height,
                            c.dilation_width, kCrossCorrelation, type) != kSuccess) {
      return false;
    }
    api.set_math(convolution, kFmaMath);  // versions before 8 do not know it, and have no TF32
    return true;
  }

  bool choose(DnnHandle handle, const Convolution& c, size_t most_scratch) {
    DnnAlgorithm found[kMostAlgorithms] = {};
    int count = 0, status = kSuccess;
    switch (c.way) {
      case Way::Forward:
        status = api.forward_algorithms(handle, image, filter, convolution, result, kMostAlgorithms, &count, found);
        break;
      case Way::Input:
        status = api.input_algorithms(handle, filter, result, convolution, image, kMostAlgorithms, &count, found);
        break;
      case Way::Filter:
        status = api.filter_algorithms(handle, image, result, convolution, filter, kMostAlgorithms, &count, found);
        break;
    }
    if (status != kSuccess) return false;
    for (int i = 0; i < count; ++i) {  // the fastest first
      const DnnAlgorithm& one = found[i];
      if (one.status != kSuccess || one.determinism != kDeterministic || one.memory > most_scratch) continue;
      if (one.math != kDefaultMath && one.math != kFmaMath) continue;
      algorithm = one.number;
      scratch = one.memory;
      return true;
    }
    return false;
  }

  const DnnApi& api;
  DnnTensor image = nullptr, result = nullptr;
  DnnFilter filter = nullptr;
  DnnConvolution convolution = nullptr;
  bool works = false;
  int algorithm = 0;
  size_t scratch = 0;
};

Dnn::Dnn(const DnnApi& api, Stream stream, size_t most_scratch) : api_(api), most_scratch_(most_scratch) {
  if (api_.create(&handle_) != kSuccess) {
    handle_ = nullptr;
  } else if (api_.set_stream(handle_, stream) != kSuccess) {
    api_.destroy(handle_);
    handle_ = nullptr;
  }
}

Dnn::~Dnn() {
  prepared_.clear();
  if (handle_) api_.destroy(handle_);
}

Dnn::Prepared& Dnn::prepared(const Convolution& c) {
  std::unique_ptr<Prepared>& known = prepared_[c];
  if (!known) {
    known = std::make_unique<Prepared>(api_);
    known->works = known->describe(c) && known->choose(handle_, c, most_scratch_);
  }
  return *known;
}

std::optional<size_t> Dnn::scratch(const Convolution& c) {
  if (!handle_) return std::nullopt;
  std::lock_guard lock(mutex_);
  const Prepared& p = prepared(c);
  if (!p.works) return std::nullopt;
  return p.scratch;
}

bool Dnn::convolve(const Convolution& c, const void* first, const void* second, void* result, void* scratch) {
  if (!handle_) return false;
  const double double_one = 1, double_zero = 0;
  const float float_one = 1, float_zero = 0;
  const bool is_double = c.type == DType::Float64;
  const void* one = is_double ? static_cast<const void*>(&double_one) : &float_one;
  const void* zero = is_double ? static_cast<const void*>(&double_zero) : &float_zero;
  std::lock_guard lock(mutex_);
  Prepared& p = prepared(c);
  if (!p.works) return false;
  int status = kSuccess;
  switch (c.way) {
    case Way::Forward:
      status = api_.forward(handle_, one, p.image, first, p.filter, second, p.convolution, p.algorithm, scratch,
                            p.scratch, zero, p.result, result);
      break;
    case Way::Input:
      status = api_.backward_input(handle_, one, p.filter, second, p.result, first, p.convolution, p.algorithm, scratch,
                                   p.scratch, zero, p.image, result);
      break;
    case Way::Filter:
      status = api_.backward_filter(handle_, one, p.image, first, p.result, second, p.convolution, p.algorithm, scratch,
                                    p.scratch, zero, p.filter, result);
      break;
  }
  p.works = status == kSuccess;
  return p.works;
}

}  // namespace weir::cuda
