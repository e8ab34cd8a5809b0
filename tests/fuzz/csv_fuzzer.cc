// Cuts arbitrary bytes into fields of comma-separated values, and reads numbers from them. Nothing may crash, or end in
// any exception but weir::Error with InvalidArgument; fields hold no more bytes than the record.

#include <cstdint>
#include <cstdlib>

#include "base/parse_number.h"
#include "io/csv.h"
#include "weir/error.h"

namespace {

template <class T>
void number(std::string_view field) {
  T value = {};
  if (weir::parse_number(field, value) && field.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weir;
  const std::string_view record(reinterpret_cast<const char*>(data), size);
  for (bool quotes : {true, false}) {
    io::CsvReader reader(',', quotes);
    reader.begin(record);
    size_t bytes = 0;
    try {
      for (std::string_view field; reader.next(field);) {
        bytes += field.size();
        number<int32_t>(field);
        number<int64_t>(field);
        number<float>(field);
        number<double>(field);
      }
    } catch (const Error& e) {
      if (e.code() != Code::InvalidArgument) std::abort();
    }
    if (bytes > size) std::abort();
  }
  return 0;
}
