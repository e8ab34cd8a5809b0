#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::io {

// The bytes behind a block in snappy's format; nothing when the block is damaged. Never takes more than 32 times the
// block's own size.
std::optional<std::string> snappy_uncompress(std::string_view block);

}  // namespace weir::io
