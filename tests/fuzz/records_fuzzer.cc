// Reads arbitrary bytes as a record file: plain, and as gzip and zlib streams. Nothing may crash, leak, or end in any
// exception but weir::Error, and no record may be larger than what the file can hold.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "weir/error.h"
#include "weir/records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weir;
  const int fd = ::memfd_create("records", 0);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  for (Compression compression : {Compression::None, Compression::Gzip, Compression::Zlib}) {
    // zlib packs a thousand bytes into one at best.
    const size_t most = compression == Compression::None ? size : 1100 * size;
    try {
      RecordReader reader(path, compression);
      for (std::string record; reader.next(record);) {
        if (record.size() > most) std::abort();
        if (reader.offset() <= 0) std::abort();
      }
    } catch (const Error& e) {
      if (e.code() != Code::DataLoss) std::abort();
    }
  }
  ::close(fd);
  return 0;
}
