#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::ops {

// Reads the character at `at` and moves behind it. -1 for bytes that are no character: `at` then moves behind as many
// of them as one replacement stands for (Unicode's "maximal subpart").
int32_t next_utf8(std::string_view text, size_t& at);
void append_utf8(int32_t character, std::string& text);
inline bool is_character(int64_t value) {
  return value >= 0 && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
}
// Whether a byte begins a character.
inline bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

}  // namespace weir::ops
