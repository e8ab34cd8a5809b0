#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weir/dtype.h"
#include "weir/export.h"
#include "weir/shape.h"

namespace weir {

// Reference-counted memory. Counting is thread-safe; the bytes are not guarded.
class WEIR_API Buffer {
 public:
  // Uninitialised memory aligned to 64 bytes (elements of String are constructed empty). Throws ResourceExhausted.
  static Buffer* allocate(DType dtype, int64_t elements);
  // Borrowed memory: `release` is called when the last reference is gone.
  static Buffer* borrow(void* data, size_t bytes, std::function<void()> release);

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  bool unique() const { return references_.load(std::memory_order_acquire) == 1; }
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 protected:
  Buffer(void* data, size_t bytes) : data_(data), bytes_(bytes) {}
  virtual ~Buffer() = default;
  // Called once, by whoever drops the last reference. A recycling allocator takes the buffer back here.
  virtual void destroy() { delete this; }
  void revive() { references_.store(1, std::memory_order_relaxed); }

 private:
  std::atomic<int> references_{1};
  void* data_;
  size_t bytes_;
};

// A value: element type, shape and a shared buffer. Copying shares the buffer. A tensor that several handles share must
// not be written through mutable_data(). A default-constructed tensor has type Invalid and holds nothing.
class WEIR_API Tensor {
 public:
  Tensor() = default;
  // Uninitialised elements (strings are empty). Throws InvalidArgument for a shape that is not fully known.
  Tensor(DType dtype, const Shape& shape);
  // Takes over one reference to `buffer`; `data` points into it.
  Tensor(DType dtype, const Shape& shape, Buffer* buffer, void* data);
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(const Tensor& other);
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor() {
    if (buffer_) buffer_->release();
  }

  // A scalar, and a vector, of T. Numbers keep their C++ type: Tensor(2) is int32, Tensor(2.f) float.
  template <class T>
  requires(dtype_of<T> != DType::Invalid) Tensor(T value) : Tensor(dtype_of<T>, Shape{}) {  // NOLINT
    *mutable_data<T>() = std::move(value);
  }
  Tensor(const char* text);  // NOLINT
  template <class T>
  requires(dtype_of<T> != DType::Invalid) Tensor(const std::vector<T>& values)  // NOLINT
      : Tensor(dtype_of<T>, Shape{static_cast<int64_t>(values.size())}) {
    std::copy(values.begin(), values.end(), mutable_data<T>());
  }
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape) {
    Tensor t(dtype_of<T>, shape);
    t.require_elements(static_cast<int64_t>(values.size()));
    std::copy(values.begin(), values.end(), t.mutable_data<T>());
    return t;
  }
  template <class T>
  static Tensor from(std::initializer_list<T> values, const Shape& shape) {
    return from(std::span<const T>(values.begin(), values.size()), shape);
  }
  static Tensor zeros(DType dtype, const Shape& shape);

  bool valid() const { return dtype_ != DType::Invalid; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t elements() const { return elements_; }
  size_t bytes() const { return static_cast<size_t>(elements_) * dtype_size(dtype_); }
  Buffer* buffer() const { return buffer_; }
  const void* raw() const { return data_; }
  void* mutable_raw() { return data_; }

  // Throws InvalidArgument when T is not the tensor's type.
  template <class T>
  std::span<const T> data() const {
    require_type(dtype_of<T>);
    return {static_cast<const T*>(data_), static_cast<size_t>(elements_)};
  }
  template <class T>
  T* mutable_data() {
    require_type(dtype_of<T>);
    return static_cast<T*>(data_);
  }
  // The single element; throws InvalidArgument when there is not exactly one.
  template <class T>
  T scalar() const {
    require_elements(1);
    return data<T>()[0];
  }
  // The same elements in another shape of equal size; shares the buffer.
  Tensor reshaped(const Shape& shape) const;
  Tensor copy() const;
  std::string str(int64_t max_elements = 16) const;  // "float [2,2] [1 2 3 4]"

 private:
  void require_type(DType dtype) const;
  void require_elements(int64_t elements) const;

  DType dtype_ = DType::Invalid;
  Shape shape_;
  int64_t elements_ = 0;
  Buffer* buffer_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace weir
