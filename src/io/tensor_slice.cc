#include "io/tensor_slice.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/errors.h"

namespace weir::io {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0;;) {
    const size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

// A number that is no less than 0; -1 when the text is none.
int64_t parse_size(std::string_view text) {
  int64_t value = -1;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() && value >= 0 ? value : -1;
}

// The two halves of Google's "ordered code" that TensorFlow's keys use: comparing codes compares the numbers.
// A count: its bytes, most significant first and without leading zeros, after their number.
void append_count(std::string& out, uint64_t value) {
  char bytes[9];
  int n = 0;
  for (; value > 0; value >>= 8) bytes[8 - n++] = static_cast<char>(value);
  bytes[8 - n] = static_cast<char>(n);
  out.append(bytes + 8 - n, static_cast<size_t>(n) + 1);
}

// Text: zero and 0xff bytes are escaped, and "\0\1" ends it.
void append_text(std::string& out, std::string_view text) {
  for (char c : text) {
    out.push_back(c);
    if (c == '\0') out.push_back('\xff');
    if (c == '\xff') out.push_back('\0');
  }
  out.append("\0\1", 2);
}

// A signed number of n bytes begins with n one bits (n zero bits when negative) and has 7 bits of value in each byte.
void append_signed(std::string& out, int64_t value) {
  const uint64_t positive = static_cast<uint64_t>(value < 0 ? ~value : value);
  int n = 1;
  while (n < 10 && (7 * n - 1 < 64) && (positive >> (7 * n - 1)) != 0) ++n;
  // Sign extension fills what the value does not, so that the header can be laid over it by exclusive or.
  uint8_t bytes[10];
  for (int i = 0; i < 10; ++i) {
    const int shift = 8 * (9 - i);
    bytes[i] = static_cast<uint8_t>(shift >= 64 ? (value < 0 ? 0xff : 0) : value >> shift);
  }
  const unsigned header = n < 8 ? (0xffu << (8 - n) & 0xff) << 8 : n == 8 ? 0xff00u : n == 9 ? 0xff80u : 0xffc0u;
  bytes[10 - n] ^= static_cast<uint8_t>(header >> 8);
  if (n > 1) bytes[10 - n + 1] ^= static_cast<uint8_t>(header);
  out.append(reinterpret_cast<const char*>(bytes + 10 - n), static_cast<size_t>(n));
}

}  // namespace

TensorSlice::TensorSlice(const proto::TensorSliceProto& message) {
  for (const auto& extent : message.extent()) {
    const bool has_length = extent.has_length_case() == proto::TensorSliceProto::Extent::kLength;
    if (extent.start() < 0 || (has_length && extent.length() < 0) || (!has_length && extent.start() != 0)) {
      throw invalid_argument("a slice begins at {} and has length {}", extent.start(), extent.length());
    }
    extents_.push_back({extent.start(), has_length ? extent.length() : kWhole});
  }
}

void TensorSlice::to_proto(proto::TensorSliceProto& message) const {
  for (const Extent& extent : extents_) {
    auto* m = message.add_extent();
    if (extent.length == kWhole) continue;
    m->set_start(extent.start);
    m->set_length(extent.length);
  }
}

TensorSlice TensorSlice::resolved(const Shape& shape) const {
  if (shape.rank() != static_cast<int>(extents_.size())) {
    throw invalid_argument("the slice {} has {} dimensions; the tensor has shape {}", str(), extents_.size(),
                           shape.str());
  }
  TensorSlice result = *this;
  for (size_t i = 0; i < extents_.size(); ++i) {
    Extent& extent = result.extents_[i];
    const int64_t size = shape.dims()[i];
    if (extent.length == kWhole) extent = {0, size};
    if (extent.start > size || extent.length > size - extent.start) {
      throw invalid_argument("the slice {} reaches outside of the tensor's shape {}", str(), shape.str());
    }
  }
  return result;
}

Shape TensorSlice::shape() const {
  std::vector<int64_t> dims;
  for (const Extent& extent : extents_) dims.push_back(extent.length);
  return Shape(dims);
}

bool TensorSlice::covers(const Shape& whole_shape) const { return shape() == whole_shape; }

std::string TensorSlice::str() const {
  std::string text;
  for (const Extent& extent : extents_) {
    if (!text.empty()) text += ":";
    text += extent.length == kWhole ? "-" : fmt::format("{},{}", extent.start, extent.length);
  }
  return text;
}

ShapeAndSlice parse_shape_and_slice(std::string_view text) {
  auto bad = [&]() -> Error {
    return invalid_argument("'{}' is no shape and slice: expected sizes and a slice such as \"4 2 0,2:-\"", text);
  };
  std::vector<std::string_view> words = split(text, ' ');
  std::vector<int64_t> dims;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    dims.push_back(parse_size(words[i]));
    if (dims.back() < 0) throw bad();
  }
  std::vector<TensorSlice::Extent> extents;
  if (!words.back().empty()) {
    for (std::string_view part : split(words.back(), ':')) {
      if (part == "-") {
        extents.emplace_back();
        continue;
      }
      const size_t comma = part.find(',');
      if (comma == std::string_view::npos) throw bad();
      extents.push_back({parse_size(part.substr(0, comma)), parse_size(part.substr(comma + 1))});
      if (extents.back().start < 0 || extents.back().length < 0) throw bad();
    }
  }
  Shape shape(dims);
  shape.elements();  // throws when it overflows
  TensorSlice slice(std::move(extents));
  (void)slice.resolved(shape);  // throws when it does not fit
  return {std::move(shape), std::move(slice)};
}

std::string shape_and_slice_to_string(const Shape& shape, const TensorSlice& slice) {
  std::string text;
  for (int64_t dim : shape.dims()) text += fmt::format("{} ", dim);
  return text + slice.str();
}

std::string slice_key(std::string_view name, const TensorSlice& slice) {
  std::string key;
  append_count(key, 0);
  append_text(key, name);
  append_count(key, slice.extents().size());
  for (const TensorSlice::Extent& extent : slice.extents()) {
    append_signed(key, extent.start);
    append_signed(key, extent.length);
  }
  return key;
}

int64_t overlap(const TensorSlice& a, const TensorSlice& b) {
  int64_t common = 1;
  for (size_t i = 0; i < a.extents().size(); ++i) {
    const auto &x = a.extents()[i], &y = b.extents()[i];
    common *= std::max<int64_t>(0, std::min(x.start + x.length, y.start + y.length) - std::max(x.start, y.start));
  }
  return common;
}

void copy_overlap(const Tensor& from, const TensorSlice& from_slice, Tensor& to, const TensorSlice& to_slice) {
  const int64_t common = overlap(from_slice, to_slice);
  if (common == 0) return;
  const size_t rank = from_slice.extents().size();
  // Of each dimension: how much is common, where it begins in both, and how many elements one step is.
  std::vector<int64_t> count(rank), from_stride(rank, 1), to_stride(rank, 1), at(rank, 0);
  int64_t from_offset = 0, to_offset = 0;
  for (size_t i = rank; i-- > 0;) {
    const auto &a = from_slice.extents()[i], &b = to_slice.extents()[i];
    if (i + 1 < rank) {
      from_stride[i] = from_stride[i + 1] * from_slice.extents()[i + 1].length;
      to_stride[i] = to_stride[i + 1] * to_slice.extents()[i + 1].length;
    }
    const int64_t begin = std::max(a.start, b.start);
    count[i] = std::min(a.start + a.length, b.start + b.length) - begin;
    from_offset += (begin - a.start) * from_stride[i];
    to_offset += (begin - b.start) * to_stride[i];
  }
  const int64_t row = rank == 0 ? 1 : count[rank - 1];
  const size_t size = dtype_size(from.dtype());
  for (int64_t done = 0; done < common; done += row) {
    if (from.dtype() == DType::String) {
      std::copy_n(from.data<std::string>().data() + from_offset, row, to.mutable_data<std::string>() + to_offset);
    } else {
      std::memcpy(static_cast<char*>(to.mutable_raw()) + static_cast<size_t>(to_offset) * size,
                  static_cast<const char*>(from.raw()) + static_cast<size_t>(from_offset) * size,
                  static_cast<size_t>(row) * size);
    }
    for (size_t i = rank < 2 ? 0 : rank - 1; i-- > 0;) {
      from_offset += from_stride[i];
      to_offset += to_stride[i];
      if (++at[i] < count[i]) break;
      from_offset -= from_stride[i] * count[i];
      to_offset -= to_stride[i] * count[i];
      at[i] = 0;
    }
  }
}

}  // namespace weir::io
