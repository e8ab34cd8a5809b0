#pragma once

#include <memory>
#include <string>

#include "weir/records.h"

namespace weir::io {

// The bytes of a file, unpacked where it is packed, from its beginning. For one thread at a time. Throws what the file
// system says, and DataLoss for a packed file that is damaged or cut short.
class UnpackedFile {
 public:
  // `buffer_bytes`: how much is read at once; 0 or less: a default.
  UnpackedFile(const std::string& path, Compression compression, int64_t buffer_bytes = 0);
  ~UnpackedFile();
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  // Replaces `out` by the next `size` bytes, or by fewer at the end.
  void read(size_t size, std::string& out);
  // Replaces `out` by the next line without its end ("\n" or "\r\n"); false at the end of the file.
  bool read_line(std::string& out);
  // The next byte, or -1 at the end.
  int next() { return at_ < end_ || fill() ? static_cast<unsigned char>(buffer_[at_++]) : -1; }
  int peek() { return at_ < end_ || fill() ? static_cast<unsigned char>(buffer_[at_]) : -1; }
  const std::string& path() const;

 private:
  class Source;
  bool fill();

  std::unique_ptr<Source> source_;
  std::string buffer_;
  size_t at_ = 0, end_ = 0;  // of what is in the buffer
};

// "", "ZLIB" or "GZIP"; throws InvalidArgument.
Compression compression_of(const std::string& name);

}  // namespace weir::io
