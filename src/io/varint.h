#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace weir::io {

// Little-endian numbers and varints of file formats. Files are written and read on little-endian machines only.

template <class T>
void put_fixed(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// REQUIRES: at least sizeof(T) bytes.
template <class T>
T get_fixed(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

inline void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// Takes a varint of at most 64 bits off the front; nothing when it is cut short or too long.
inline std::optional<uint64_t> take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0, i = 0; shift < 64 && i < bytes.size(); shift += 7, ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (shift == 63 && byte > 1) return std::nullopt;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace weir::io
