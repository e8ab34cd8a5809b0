// Feeds arbitrary bytes to the decoder of PNG files. Nothing may crash, leak, hang, take memory out of proportion or
// end in any exception but weir::Error.

#include <cstdint>
#include <string_view>

#include "weir/error.h"
#include "weir/image_codecs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weir;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const unsigned choice = size > 0 ? data[size - 1] : 0;
  try {
    decode_png(file, choice % 5, choice & 64 ? uint16 : uint8);
  } catch (const Error&) {
  }
  return 0;
}
