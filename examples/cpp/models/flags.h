#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace weir::examples {

// One flag of a program and where its value goes. Numbers are at least `least`; a bool is a flag without a value.
struct Flag {
  std::string name;  // "--train_dir"
  std::variant<std::string*, int64_t*, bool*> value;
  int64_t least = 1;
};

// The program was called in a way that it does not understand.
class FlagError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Takes "--flag value" and "--flag=value"; "--train-dir" is "--train_dir". Gives the words that are no flags. Throws
// FlagError for unknown flags, missing values and values that are no such numbers.
std::vector<std::string> parse_flags(std::span<const std::string> words, const std::vector<Flag>& flags);

}  // namespace weir::examples
