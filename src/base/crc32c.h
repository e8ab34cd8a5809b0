#pragma once

#include <cstdint>
#include <string_view>

namespace weir {

// CRC-32C (Castagnoli), the checksum of record files, event files and checkpoints. `crc` is that of the bytes before,
// so crc32c(b, crc32c(a)) == crc32c(a + b).
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0);

// Checksums are stored rotated and shifted, because the checksum of bytes that hold their own checksum says little.
inline constexpr uint32_t kCrcMaskDelta = 0xa282ead8;
constexpr uint32_t mask_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kCrcMaskDelta; }
constexpr uint32_t unmask_crc(uint32_t masked) {
  uint32_t rotated = masked - kCrcMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

// The build for processors without an instruction for it; crc32c() chooses at run time.
uint32_t crc32c_portable(std::string_view bytes, uint32_t crc = 0);

}  // namespace weir
