#include "ops/control/summarize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "weir/dtype.h"

namespace weir::ops {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '\n':
        result += "\\n";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\t':
        result += "\\t";
        break;
      case '"':
        result += "\\\"";
        break;
      case '\'':
        result += "\\'";
        break;
      case '\\':
        result += "\\\\";
        break;
      default:
        if (c >= 0x20 && c < 0x7f) {
          result += c;
        } else {
          result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
        }
    }
  }
  return result;
}

// The shorter of two notations that reads back as the same number.
std::string number(float value) {
  std::string text = fmt::format("{:.6g}", value);
  return std::strtof(text.c_str(), nullptr) == value || value != value ? text : fmt::format("{:.9g}", value);
}
std::string number(double value) {
  std::string text = fmt::format("{:.15g}", value);
  return std::strtod(text.c_str(), nullptr) == value || value != value ? text : fmt::format("{:.17g}", value);
}

template <class T>
int64_t integer(const void* data, int64_t i) {
  return static_cast<const T*>(data)[i];
}

std::string element(DType dtype, const void* data, int64_t i) {
  switch (dtype) {
    case DType::Float32:
      return number(static_cast<const float*>(data)[i]);
    case DType::Float64:
      return number(static_cast<const double*>(data)[i]);
    case DType::Float16:
      return number(static_cast<float>(static_cast<const Half*>(data)[i]));
    case DType::BFloat16:
      return number(static_cast<float>(static_cast<const BFloat16*>(data)[i]));
    case DType::Int8:
      return fmt::to_string(integer<int8_t>(data, i));
    case DType::Int16:
      return fmt::to_string(integer<int16_t>(data, i));
    case DType::Int32:
      return fmt::to_string(integer<int32_t>(data, i));
    case DType::Int64:
      return fmt::to_string(integer<int64_t>(data, i));
    case DType::UInt8:
      return fmt::to_string(integer<uint8_t>(data, i));
    case DType::UInt16:
      return fmt::to_string(integer<uint16_t>(data, i));
    case DType::UInt32:
      return fmt::to_string(integer<uint32_t>(data, i));
    case DType::UInt64:
      return fmt::to_string(static_cast<const uint64_t*>(data)[i]);
    case DType::Bool:
      return static_cast<const bool*>(data)[i] ? "1" : "0";
    case DType::String:
      return escaped(static_cast<const std::string*>(data)[i]);
    default:
      return "?";
  }
}

// Brackets and elements of one dimension and those below it, until `limit` elements are printed.
class Printer {
 public:
  Printer(const KernelContext& c, int input, int64_t limit)
      : shape_(c.shape(input)), dtype_(c.dtype(input)), data_(c.raw_input(input)), limit_(limit) {}

  void print(int dim) {
    if (printed_ >= limit_) return;
    int64_t size = shape_[dim];
    bool last = dim == shape_.rank() - 1;
    for (int64_t i = 0; i < size; ++i) {
      if (printed_ >= limit_) {
        if (last && dim != 0) text += "...";
        return;
      }
      if (last) {
        if (i > 0) text += ' ';
        text += element(dtype_, data_, printed_++);
      } else {
        text += '[';
        print(dim + 1);
        text += ']';
      }
    }
  }

  std::string text;

 private:
  const Shape& shape_;
  DType dtype_;
  const void* data_;
  int64_t limit_, printed_ = 0;
};

// Brackets around the ends of every dimension, as numpy writes them.
class NestedPrinter {
 public:
  NestedPrinter(const KernelContext& c, int input, int64_t ends)
      : shape_(c.shape(input)), dtype_(c.dtype(input)), data_(c.raw_input(input)), ends_(ends) {}

  void print(int dim, int64_t first) {
    if (dim == shape_.rank()) {
      const std::string one = element(dtype_, data_, first);
      text += dtype_ == DType::String ? '"' + one + '"' : one;
      return;
    }
    int64_t below = 1;
    for (int i = dim + 1; i < shape_.rank(); ++i) below *= shape_[i];
    const int64_t size = shape_[dim];
    text += '[';
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) separate(dim);
      if (ends_ >= 0 && i == ends_ && size - ends_ > ends_) {
        text += "...";
        i = size - ends_ - 1;
        continue;
      }
      print(dim + 1, first + i * below);
    }
    text += ']';
  }

  std::string text;

 private:
  void separate(int dim) {
    if (dim == shape_.rank() - 1) {
      text += ' ';
    } else {
      text.append(static_cast<size_t>(shape_.rank() - dim - 1), '\n').append(static_cast<size_t>(dim + 1), ' ');
    }
  }

  const Shape& shape_;
  DType dtype_;
  const void* data_;
  int64_t ends_;
};

}  // namespace

std::string summarize_nested(const KernelContext& c, int input, int64_t ends) {
  NestedPrinter printer(c, input, ends);
  printer.print(0, 0);
  return printer.text;
}

std::string summarize(const KernelContext& c, int input, int64_t limit) {
  int64_t elements = c.elements(input);
  if (limit < 0 || limit > elements) limit = elements;
  std::string rest = limit < elements ? "..." : "";
  if (c.shape(input).rank() == 0) {
    return (limit > 0 ? element(c.dtype(input), c.raw_input(input), 0) : "") + rest;
  }
  Printer printer(c, input, limit);
  printer.print(0);
  return printer.text + rest;
}

}  // namespace weir::ops
