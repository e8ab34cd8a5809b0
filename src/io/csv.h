#pragma once

#include <array>
#include <string>
#include <string_view>

namespace weir::io {

// Cuts records of comma-separated values (RFC 4180) into fields, by TensorFlow's rules. For one thread at a time.
class CsvReader {
 public:
  // With `quotes`, a field in double quotes may hold delimiters, line ends and, doubled, quotes.
  CsvReader(char delimiter, bool quotes);

  void begin(std::string_view record);
  // The next field, valid until the next call; false behind the last one. A record of no bytes has no field. Throws
  // InvalidArgument for quotes and line ends where they must not be.
  bool next(std::string_view& field);

 private:
  std::string_view quoted();

  const char delimiter_;
  const bool quotes_;
  std::array<bool, 256> special_ = {};  // what an unquoted field ends with or must not have
  std::string_view record_;
  size_t at_ = 0;
  bool last_is_empty_ = false;  // the record ends in a delimiter
  std::string unescaped_;
};

}  // namespace weir::io
