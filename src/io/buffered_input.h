#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/deflate.h"
#include "io/file_stream.h"

namespace weir::io {

// A file that is read from its beginning through a buffer, unpacked on the way. For one thread at a time. Every
// function throws what the file system says, and DataLoss for a damaged compressed stream.
class BufferedInput {
 public:
  static constexpr size_t kDefaultBuffer = 1 << 18;
  explicit BufferedInput(const std::string& path, Compression compression = Compression::None,
                         size_t buffer_bytes = kDefaultBuffer);

  const std::string& path() const { return file_.path(); }
  int64_t offset() const { return offset_; }  // bytes that were read or skipped, unpacked

  // The next `size` bytes, or fewer when the file ends.
  size_t read(char* bytes, size_t size);
  // Appends them; memory grows with what the file holds, not with `size`.
  size_t append(std::string& to, uint64_t size);
  uint64_t skip(uint64_t size);
  // A line without its end, which is "\n" or "\r\n"; false at the end of the file. The last line may lack its end.
  bool read_line(std::string& line);

 private:
  // Whether the buffer holds anything now.
  bool fill();
  size_t read_source(char* bytes, size_t size);
  void advance(size_t count) {
    begin_ += count;
    offset_ += static_cast<int64_t>(count);
  }

  InputFile file_;
  std::optional<Inflater> inflater_;
  const size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0, end_ = 0;  // the part of buffer_ that is not read yet
  int64_t offset_ = 0;
};

}  // namespace weir::io
