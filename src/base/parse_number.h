#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

namespace weir {

// A number as TensorFlow's operations read it from text: spaces around it and a plus before it are fine; what a float
// cannot hold becomes infinite or zero. False for everything else that is no number of type T, or not all of `text`.
template <class T>
bool parse_number(std::string_view text, T& number) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  auto space = [&](char c) { return kSpace.find(c) != std::string_view::npos; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  if constexpr (std::is_floating_point_v<T>) {
    if (text.starts_with("0x") || text.starts_with("0X")) {  // a whole number
      uint64_t whole = 0;
      const char* const end_of_text = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + 2, end_of_text, whole, 16);
      number = static_cast<T>(whole);
      return stop == end_of_text && error == std::errc();
    }
  }
  const char* const all = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), all, number);
  if (end != all || text.empty()) return false;
  if constexpr (std::is_floating_point_v<T>) {
    if (failure == std::errc::result_out_of_range) {
      const std::string whole(text);
      number = std::is_same_v<T, float> ? static_cast<T>(std::strtof(whole.c_str(), nullptr))
                                        : static_cast<T>(std::strtod(whole.c_str(), nullptr));
      return true;
    }
  }
  return failure == std::errc();
}

}  // namespace weir
