#include "io/csv.h"

#include "base/errors.h"

namespace weir::io {

CsvReader::CsvReader(char delimiter, bool quotes) : delimiter_(delimiter), quotes_(quotes) {
  for (char c : {delimiter, '\n', '\r'}) special_[static_cast<unsigned char>(c)] = true;
  if (quotes) special_[static_cast<unsigned char>('"')] = true;
}

void CsvReader::begin(std::string_view record) {
  record_ = record;
  at_ = 0;
  last_is_empty_ = record.ends_with(delimiter_);
}

bool CsvReader::next(std::string_view& field) {
  while (at_ < record_.size() && (record_[at_] == '\n' || record_[at_] == '\r')) ++at_;
  if (at_ >= record_.size()) {
    if (!last_is_empty_) return false;
    last_is_empty_ = false;
    field = {};
    return true;
  }
  if (quotes_ && record_[at_] == '"') {
    field = quoted();
    return true;
  }
  size_t end = at_;
  while (end < record_.size() && !special_[static_cast<unsigned char>(record_[end])]) ++end;
  if (end < record_.size() && record_[end] != delimiter_) {
    throw invalid_argument("Unquoted fields cannot have quotes/CRLFs inside");
  }
  field = record_.substr(at_, end - at_);
  at_ = end + 1;
  return true;
}

std::string_view CsvReader::quoted() {
  unescaped_.clear();
  size_t at = at_ + 1, begin = at;  // what is between them is copied as it is
  for (;; ++at) {
    at = record_.find('"', at);
    if (at == std::string_view::npos) {
      throw invalid_argument("Quoted field has to end with quote followed by delim or end");
    }
    if (at + 1 == record_.size() || record_[at + 1] == delimiter_) break;
    if (record_[at + 1] != '"') throw invalid_argument("Quote inside a string has to be escaped by another quote");
    unescaped_.append(record_, begin, at + 1 - begin);
    begin = ++at + 1;
  }
  at_ = at + 2;
  if (unescaped_.empty()) return record_.substr(begin, at - begin);
  unescaped_.append(record_, begin, at - begin);
  return unescaped_;
}

}  // namespace weir::io
