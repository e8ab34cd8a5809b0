#include "flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace weir::examples {
namespace {

std::string with_underscores(std::string flag) {
  std::replace(flag.begin() + 2, flag.end(), '-', '_');
  return flag;
}

int64_t number(const std::string& flag, const std::string& text, int64_t least) {
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < least) {
    throw FlagError(fmt::format("{} needs a whole number from {} on, not '{}'", flag, least, text));
  }
  return value;
}

}  // namespace

std::vector<std::string> parse_flags(std::span<const std::string> words, const std::vector<Flag>& flags) {
  std::vector<std::string> rest;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      rest.push_back(words[i]);
      continue;
    }
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const auto flag =
        std::ranges::find_if(flags, [&](const Flag& f) { return with_underscores(f.name) == with_underscores(name); });
    if (flag == flags.end()) throw FlagError(fmt::format("there is no flag {}", name));
    if (bool* const* switched = std::get_if<bool*>(&flag->value)) {
      if (equals != std::string::npos) throw FlagError(fmt::format("{} takes no value", name));
      **switched = true;
      continue;
    }
    if (equals == std::string::npos && i + 1 == words.size()) throw FlagError(fmt::format("{} needs a value", name));
    const std::string value = equals == std::string::npos ? words[++i] : words[i].substr(equals + 1);
    if (std::string* const* text = std::get_if<std::string*>(&flag->value)) {
      **text = value;
    } else {
      *std::get<int64_t*>(flag->value) = number(name, value, flag->least);
    }
  }
  return rest;
}

}  // namespace weir::examples
