#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weir {

// The MD5 digest (RFC 1321), by which TensorFlow derives seeds of other seeds. Nothing secret rests on it.
std::array<uint8_t, 16> md5(std::string_view data);

}  // namespace weir
