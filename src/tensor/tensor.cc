#include "weir/tensor.h"

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <vector>

#include "base/errors.h"
#include "tensor/allocate.h"
#include "tensor/elements.h"
#include "tensor/variant.h"

namespace weir {
namespace {

class HeapBuffer final : public Buffer {
 public:
  explicit HeapBuffer(size_t bytes) : Buffer(allocate_bytes(bytes), bytes) {}
  ~HeapBuffer() override { free_bytes(data(), bytes()); }
};

// Lists may hold lists that hold lists, to any depth. Letting one go inside the other would exhaust the stack, so those
// inside wait until the outermost is gone.
void destroy_elements(Variant* elements, size_t count) {
  thread_local std::vector<Variant>* waiting = nullptr;
  if (waiting) {
    try {
      waiting->insert(waiting->end(), std::make_move_iterator(elements), std::make_move_iterator(elements + count));
    } catch (const std::bad_alloc&) {  // then one inside the other after all
    }
    std::destroy_n(elements, count);
    return;
  }
  std::vector<Variant> inside;
  waiting = &inside;
  std::destroy_n(elements, count);
  while (!inside.empty()) {
    Variant last = std::move(inside.back());
    inside.pop_back();
  }
  waiting = nullptr;
}
void destroy_elements(std::string* elements, size_t count) { std::destroy_n(elements, count); }

// Elements that have constructors: strings and variants.
template <class T>
class ObjectBuffer final : public Buffer {
 public:
  explicit ObjectBuffer(size_t count) : Buffer(allocate_bytes(count * sizeof(T)), count * sizeof(T)) {
    std::uninitialized_default_construct_n(static_cast<T*>(data()), count);
  }
  ~ObjectBuffer() override {
    destroy_elements(static_cast<T*>(data()), bytes() / sizeof(T));
    free_bytes(data(), bytes());
  }
};

class BorrowedBuffer final : public Buffer {
 public:
  BorrowedBuffer(void* data, size_t bytes, std::function<void()> release)
      : Buffer(data, bytes), release_(std::move(release)) {}
  ~BorrowedBuffer() override {
    if (release_) release_();
  }

 private:
  std::function<void()> release_;
};

template <class T>
void append_elements(std::string& text, const Tensor& t, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (i) text += ' ';
    const T& value = t.data<T>()[static_cast<size_t>(i)];
    if constexpr (std::is_same_v<T, std::string>) {
      text += '"' + value + '"';
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      text += fmt::format("{}", static_cast<float>(value));
    } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      text += fmt::format("({},{})", value.real(), value.imag());
    } else if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>) {
      text += fmt::format("{}", static_cast<int>(value));
    } else {
      text += fmt::format("{}", value);
    }
  }
}

}  // namespace

Buffer* Buffer::allocate(DType dtype, int64_t elements) {
  size_t size = dtype == DType::Variant ? sizeof(Variant) : dtype_size(dtype);
  if (size == 0) throw invalid_argument("a tensor of type {} has no elements in memory", dtype_name(dtype));
  if (elements < 0) throw invalid_argument("a tensor of {} elements", elements);
  int64_t bytes = checked_multiply(elements, static_cast<int64_t>(size));
  if (dtype == DType::String) return new ObjectBuffer<std::string>(static_cast<size_t>(elements));
  if (dtype == DType::Variant) return new ObjectBuffer<Variant>(static_cast<size_t>(elements));
  return new HeapBuffer(static_cast<size_t>(bytes));
}

Buffer* Buffer::borrow(void* data, size_t bytes, std::function<void()> release) {
  return new BorrowedBuffer(data, bytes, std::move(release));
}

Tensor::Tensor(DType dtype, const Shape& shape) : dtype_(dtype), shape_(shape), elements_(shape.elements()) {
  if (!shape.is_known()) throw invalid_argument("a tensor's shape must be known; it is {}", shape.str());
  buffer_ = Buffer::allocate(dtype, elements_);
  data_ = buffer_->data();
}

Tensor::Tensor(const char* text) : Tensor(std::string(text)) {}

Tensor::Tensor(DType dtype, const Shape& shape, Buffer* buffer, void* data)
    : dtype_(dtype), shape_(shape), elements_(shape.elements()), buffer_(buffer), data_(data) {}

Tensor::Tensor(const Tensor& other)
    : dtype_(other.dtype_),
      shape_(other.shape_),
      elements_(other.elements_),
      buffer_(other.buffer_),
      data_(other.data_) {
  if (buffer_) buffer_->retain();
}

Tensor::Tensor(Tensor&& other) noexcept
    : dtype_(std::exchange(other.dtype_, DType::Invalid)),
      shape_(std::move(other.shape_)),
      elements_(std::exchange(other.elements_, 0)),
      buffer_(std::exchange(other.buffer_, nullptr)),
      data_(std::exchange(other.data_, nullptr)) {}

Tensor& Tensor::operator=(const Tensor& other) {
  Tensor copy(other);
  return *this = std::move(copy);
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  if (buffer_) buffer_->release();
  dtype_ = std::exchange(other.dtype_, DType::Invalid);
  shape_ = std::move(other.shape_);
  elements_ = std::exchange(other.elements_, 0);
  buffer_ = std::exchange(other.buffer_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  return *this;
}

Tensor Tensor::zeros(DType dtype, const Shape& shape) {
  Tensor t(dtype, shape);
  if (dtype != DType::String) std::memset(t.data_, 0, t.bytes());
  return t;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (!shape.is_known() || shape.elements() != elements_) {
    throw invalid_argument("a tensor of shape {} cannot be seen as {}", shape_.str(), shape.str());
  }
  Tensor t(*this);
  t.shape_ = shape;
  return t;
}

Tensor Tensor::copy() const {
  if (!valid()) return {};
  Tensor t(dtype_, shape_);
  copy_elements(dtype_, data_, t.data_, elements_);
  return t;
}

std::string Tensor::str(int64_t max_elements) const {
  std::string text = fmt::format("{} {} [", dtype_name(dtype_), shape_.str());
  int64_t count = std::min(elements_, max_elements);
  switch (dtype_) {
    case DType::Float32:
      append_elements<float>(text, *this, count);
      break;
    case DType::Float64:
      append_elements<double>(text, *this, count);
      break;
    case DType::Float16:
      append_elements<Half>(text, *this, count);
      break;
    case DType::BFloat16:
      append_elements<BFloat16>(text, *this, count);
      break;
    case DType::Int8:
      append_elements<int8_t>(text, *this, count);
      break;
    case DType::Int16:
      append_elements<int16_t>(text, *this, count);
      break;
    case DType::Int32:
      append_elements<int32_t>(text, *this, count);
      break;
    case DType::Int64:
      append_elements<int64_t>(text, *this, count);
      break;
    case DType::UInt8:
      append_elements<uint8_t>(text, *this, count);
      break;
    case DType::UInt16:
      append_elements<uint16_t>(text, *this, count);
      break;
    case DType::UInt32:
      append_elements<uint32_t>(text, *this, count);
      break;
    case DType::UInt64:
      append_elements<uint64_t>(text, *this, count);
      break;
    case DType::Bool:
      append_elements<bool>(text, *this, count);
      break;
    case DType::Complex64:
      append_elements<std::complex<float>>(text, *this, count);
      break;
    case DType::Complex128:
      append_elements<std::complex<double>>(text, *this, count);
      break;
    case DType::String:
      append_elements<std::string>(text, *this, count);
      break;
    default:
      text += "...";
      break;
  }
  if (count < elements_) text += " ...";
  return text + "]";
}

void Tensor::require_type(DType dtype) const {
  if (dtype != dtype_) {
    throw invalid_argument("a tensor of type {} is asked for {}", dtype_name(dtype_), dtype_name(dtype));
  }
}

void Tensor::require_elements(int64_t elements) const {
  if (elements != elements_) {
    throw invalid_argument("a tensor of shape {} has {} elements, not {}", shape_.str(), elements_, elements);
  }
}

}  // namespace weir
