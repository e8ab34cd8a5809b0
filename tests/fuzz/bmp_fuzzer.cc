// Feeds arbitrary bytes to the decoder of BMP files. Nothing may crash, leak, hang, take memory out of proportion or
// end in any exception but weir::Error.

#include <cstdint>
#include <string_view>

#include "weir/error.h"
#include "weir/image_codecs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weir;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  try {
    decode_bmp(file);
  } catch (const Error&) {
  }
  return 0;
}
