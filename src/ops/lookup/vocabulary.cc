#include "ops/lookup/vocabulary.h"

#include <algorithm>

#include "base/errors.h"

namespace weir::ops {

std::vector<std::string_view> vocabulary_lines(const std::string& text, int64_t count, const std::string& file) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool wanted = count == -1 || static_cast<int64_t>(lines.size()) < count;
    if (line.empty() && wanted) {
      throw invalid_argument("Invalid content in {}: empty line found at position {}.", file,
                             text.size() - rest.size() + std::min(end + 1, rest.size()));
    }
    lines.push_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto found = static_cast<int64_t>(lines.size());
  if (count != -1 && found < count)
    throw invalid_argument("Invalid vocab_size in {}: expected {} but got at least {}", file, count, found);
  if (count != -1) lines.resize(static_cast<size_t>(count));
  return lines;
}

}  // namespace weir::ops
