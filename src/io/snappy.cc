#include "io/snappy.h"

#include "io/varint.h"

namespace weir::io {
namespace {

// A little-endian number of `bytes` bytes off the front.
std::optional<size_t> take_number(std::string_view& in, size_t bytes) {
  if (in.size() < bytes) return std::nullopt;
  size_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= static_cast<size_t>(static_cast<uint8_t>(in[i])) << (8 * i);
  in.remove_prefix(bytes);
  return value;
}

}  // namespace

std::optional<std::string> snappy_uncompress(std::string_view in) {
  const size_t compressed = in.size();
  const std::optional<uint64_t> length = take_varint(in);
  // No element makes more than 64 bytes of its 2 or more.
  if (!length || *length > 32 * compressed) return std::nullopt;
  std::string out;
  out.reserve(*length);
  while (!in.empty()) {
    const auto tag = static_cast<uint8_t>(in[0]);
    in.remove_prefix(1);
    const unsigned kind = tag & 3;
    if (kind == 0) {  // a literal: up to 60 bytes by its tag, longer ones by 1 to 4 bytes that follow
      size_t bytes = (tag >> 2) + size_t{1};
      if (bytes > 60) {
        const auto more = take_number(in, bytes - 60);
        if (!more) return std::nullopt;
        bytes = *more + 1;
      }
      if (bytes > in.size() || bytes > *length - out.size()) return std::nullopt;
      out.append(in.substr(0, bytes));
      in.remove_prefix(bytes);
      continue;
    }
    size_t bytes = kind == 1 ? ((tag >> 2) & 7) + size_t{4} : (tag >> 2) + size_t{1};
    const auto low = take_number(in, kind == 3 ? 4 : kind);
    if (!low) return std::nullopt;
    const size_t distance = kind == 1 ? *low | static_cast<size_t>(tag >> 5) << 8 : *low;
    if (distance == 0 || distance > out.size() || bytes > *length - out.size()) return std::nullopt;
    // One by one: a copy may overlap what it makes.
    for (size_t from = out.size() - distance; bytes > 0; --bytes) out.push_back(out[from++]);
  }
  if (out.size() != *length) return std::nullopt;
  return out;
}

}  // namespace weir::io
