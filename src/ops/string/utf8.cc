#include "ops/string/utf8.h"

namespace weir::ops {

int32_t next_utf8(std::string_view text, size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  if (first < 0xc2 || first > 0xf4) return -1;
  const int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  // The second byte excludes characters that are written too long, surrogates, and those beyond the last one.
  unsigned low = 0x80, high = 0xbf;
  if (first == 0xe0) low = 0xa0;
  if (first == 0xed) high = 0x9f;
  if (first == 0xf0) low = 0x90;
  if (first == 0xf4) high = 0x8f;
  int32_t character = first & (0x3f >> more);
  for (int i = 0; i < more; ++i, low = 0x80, high = 0xbf) {
    if (at == text.size()) return -1;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < low || byte > high) return -1;
    character = character << 6 | (byte & 0x3f);
    ++at;
  }
  return character;
}

void append_utf8(int32_t character, std::string& text) {
  const auto c = static_cast<uint32_t>(character);
  const auto put = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  }
}

}  // namespace weir::ops
