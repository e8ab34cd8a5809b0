#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weir/export.h"

namespace weir {

inline constexpr int64_t kUnknown = -1;

// The extent of a tensor: a list of sizes, each known or kUnknown, or of unknown rank altogether. Up to six dimensions
// live inside the object, so copying a usual shape allocates nothing.
class WEIR_API Shape {
 public:
  Shape() = default;                           // a scalar
  Shape(std::initializer_list<int64_t> dims);  // NOLINT
  Shape(std::span<const int64_t> dims);        // NOLINT
  Shape(const std::vector<int64_t>& dims);     // NOLINT
  static Shape unknown();                      // of unknown rank
  static Shape unknown_dims(int rank);         // of known rank, every size unknown
  Shape(const Shape& other);
  Shape(Shape&& other) noexcept = default;
  Shape& operator=(const Shape& other);
  Shape& operator=(Shape&& other) noexcept = default;

  bool has_rank() const { return rank_ >= 0; }
  int rank() const { return rank_; }  // -1 when unknown
  bool is_scalar() const { return rank_ == 0; }
  bool is_known() const;  // rank and every size
  std::span<const int64_t> dims() const { return {data(), static_cast<size_t>(rank_ < 0 ? 0 : rank_)}; }
  // Negative indices count from the end. Throws InvalidArgument when out of range or of unknown rank.
  int64_t dim(int index) const;
  int64_t operator[](int index) const { return dim(index); }
  void set_dim(int index, int64_t size);
  void append(int64_t size);

  // Product of the sizes; kUnknown when one is not known. Throws InvalidArgument on overflow.
  int64_t elements() const;

  bool operator==(const Shape& other) const;
  // Whether some concrete shape fits both.
  bool compatible(const Shape& other) const;
  // What is known from both together; throws InvalidArgument when they contradict each other.
  Shape merged(const Shape& other) const;
  // TensorFlow's broadcasting; throws InvalidArgument when the shapes do not fit.
  static Shape broadcast(const Shape& a, const Shape& b);

  std::string str() const;  // "[128,?,10]", "<unknown>"

 private:
  static constexpr int kInline = 6;
  const int64_t* data() const { return heap_ ? heap_.get() : inline_; }
  int64_t* data() { return heap_ ? heap_.get() : inline_; }
  void assign(std::span<const int64_t> dims);

  int rank_ = 0;
  int64_t inline_[kInline] = {};
  std::unique_ptr<int64_t[]> heap_;  // set when rank_ > kInline
};

// Arithmetic on sizes that throws InvalidArgument instead of overflowing.
WEIR_API int64_t checked_multiply(int64_t a, int64_t b);
WEIR_API int64_t checked_add(int64_t a, int64_t b);

}  // namespace weir
