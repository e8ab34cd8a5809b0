#pragma once

#include <cstdint>

namespace weir {

// std::source_location, which clang 14 lacks: as a default argument, current() is the caller's line.
class SourceLocation {
 public:
  static constexpr SourceLocation current(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
    return SourceLocation(file, line);
  }
  constexpr const char* file_name() const { return file_; }
  constexpr uint32_t line() const { return line_; }

 private:
  constexpr SourceLocation(const char* file, uint32_t line) : file_(file), line_(line) {}
  const char* file_;
  uint32_t line_;
};

}  // namespace weir
