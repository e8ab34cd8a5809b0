#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::ops {

// The lines of a vocabulary's text, without the empty one that a final newline makes and without carriage returns. With
// `count` other than -1 only so many; throws InvalidArgument, which names the file, when there are fewer or
// when one of them is empty.
std::vector<std::string_view> vocabulary_lines(const std::string& text, int64_t count, const std::string& file);

}  // namespace weir::ops
