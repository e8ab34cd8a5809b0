#include "weir/shape.h"

#include <algorithm>

#include "base/errors.h"

namespace weir {

Shape::Shape(std::initializer_list<int64_t> dims) { assign({dims.begin(), dims.size()}); }
Shape::Shape(std::span<const int64_t> dims) { assign(dims); }
Shape::Shape(const std::vector<int64_t>& dims) { assign(dims); }

Shape Shape::unknown() {
  Shape s;
  s.rank_ = -1;
  return s;
}

Shape Shape::unknown_dims(int rank) { return Shape(std::vector<int64_t>(static_cast<size_t>(rank), kUnknown)); }

Shape::Shape(const Shape& other) { *this = other; }

Shape& Shape::operator=(const Shape& other) {
  if (this == &other) return *this;
  if (!other.heap_) {
    heap_.reset();
    rank_ = other.rank_;
    std::copy(other.inline_, other.inline_ + kInline, inline_);
  } else {
    assign(other.dims());
  }
  return *this;
}

void Shape::assign(std::span<const int64_t> dims) {
  if (dims.size() > 254) throw invalid_argument("a shape has {} dimensions; the limit is 254", dims.size());
  for (int64_t dim : dims) {
    if (dim < kUnknown) throw invalid_argument("a dimension is {}", dim);
  }
  if (dims.size() > kInline) {
    auto heap = std::make_unique<int64_t[]>(dims.size());
    std::copy(dims.begin(), dims.end(), heap.get());
    heap_ = std::move(heap);
  } else {
    std::copy(dims.begin(), dims.end(), inline_);
    heap_.reset();
  }
  rank_ = static_cast<int>(dims.size());
}

bool Shape::is_known() const {
  return rank_ >= 0 && std::all_of(data(), data() + rank_, [](int64_t dim) { return dim >= 0; });
}

int64_t Shape::dim(int index) const {
  int at = index < 0 ? index + rank_ : index;
  if (at < 0 || at >= rank_) throw invalid_argument("dimension {} of shape {}", index, str());
  return data()[at];
}

void Shape::set_dim(int index, int64_t size) {
  dim(index);  // checks the index
  if (size < kUnknown) throw invalid_argument("a dimension is {}", size);
  data()[index < 0 ? index + rank_ : index] = size;
}

void Shape::append(int64_t size) {
  if (rank_ >= 0 && rank_ < kInline && size >= kUnknown) {
    inline_[rank_++] = size;
    return;
  }
  std::vector<int64_t> all(dims().begin(), dims().end());
  all.push_back(size);
  assign(all);
}

int64_t Shape::elements() const {
  if (rank_ < 0) return kUnknown;
  // Strides and parts of the product must fit as well, so an empty dimension excuses no others.
  int64_t product = 1;
  bool known = true, empty = false;
  for (int64_t dim : dims()) {
    if (dim < 0) {
      known = false;
    } else if (dim == 0) {
      empty = true;
    } else {
      product = checked_multiply(product, dim);
    }
  }
  return !known ? kUnknown : empty ? 0 : product;
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && (rank_ < 0 || std::equal(data(), data() + rank_, other.data()));
}

bool Shape::compatible(const Shape& other) const {
  if (rank_ < 0 || other.rank_ < 0) return true;
  return rank_ == other.rank_ && std::equal(data(), data() + rank_, other.data(),
                                            [](int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; });
}

Shape Shape::merged(const Shape& other) const {
  if (!compatible(other)) throw invalid_argument("shapes {} and {} differ", str(), other.str());
  if (rank_ < 0) return other;
  Shape result = *this;
  if (other.rank_ >= 0) {
    for (int i = 0; i < rank_; ++i) result.data()[i] = std::max(data()[i], other.data()[i]);
  }
  return result;
}

Shape Shape::broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return unknown();
  int rank = std::max(a.rank_, b.rank_);
  Shape result = unknown_dims(rank);
  for (int i = 0; i < rank; ++i) {
    int64_t x = i < rank - a.rank_ ? 1 : a.data()[i - (rank - a.rank_)];
    int64_t y = i < rank - b.rank_ ? 1 : b.data()[i - (rank - b.rank_)];
    int64_t& out = result.data()[i];
    if (x == y || y == 1) {
      out = x;
    } else if (x == 1) {
      out = y;
    } else if (x >= 0 && y >= 0) {
      throw invalid_argument("Dimensions must be equal, but are {} and {}: Incompatible shapes: {} vs. {}", x, y,
                             a.str(), b.str());
    } else {
      // One side is unknown: a known size above 1 decides, as the other must be that or 1.
      out = x > 1 ? x : y > 1 ? y : kUnknown;
    }
  }
  return result;
}

std::string Shape::str() const {
  if (rank_ < 0) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i) text += ",";
    text += data()[i] < 0 ? "?" : std::to_string(data()[i]);
  }
  return text + "]";
}

int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw invalid_argument("size overflow: {} * {}", a, b);
  return product;
}

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw invalid_argument("size overflow: {} + {}", a, b);
  return sum;
}

}  // namespace weir
