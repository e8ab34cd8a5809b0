#include "io/unpacked_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/errors.h"
#include "io/file_stream.h"

namespace weir::io {
namespace {

constexpr size_t kBufferBytes = 256 << 10, kMaxBufferBytes = 64 << 20;

}  // namespace

class UnpackedFile::Source {
 public:
  Source(const std::string& path, Compression compression) : file_(path), packed_(compression != Compression::None) {
    if (!packed_) return;
    // 15 bits of window; 16 more ask zlib for gzip's frame.
    if (inflateInit2(&stream_, compression == Compression::Gzip ? 15 + 16 : 15) != Z_OK) {
      throw error(Code::ResourceExhausted, "no memory for decompression");
    }
    input_.resize(kBufferBytes);
  }
  ~Source() {
    if (packed_) inflateEnd(&stream_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const std::string& path() const { return file_.path(); }

  size_t read(char* bytes, size_t size) {
    if (!packed_) return file_.read(bytes, size);
    stream_.next_out = reinterpret_cast<Bytef*>(bytes);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0) {
        const size_t got = file_.read(input_.data(), input_.size());
        if (got == 0) {
          if (in_stream_) throw error(Code::DataLoss, "{}: the packed file is cut short", path());
          return 0;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(got);
      }
      in_stream_ = true;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {  // several packed files may stand behind each other
        in_stream_ = false;
        inflateReset(&stream_);
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        throw error(Code::DataLoss, "{}: the packed file is damaged: {}", path(),
                    stream_.msg ? stream_.msg : "zlib gives up");
      }
    }
    return size - stream_.avail_out;
  }

 private:
  InputFile file_;
  bool packed_, in_stream_ = false;
  std::string input_;
  z_stream stream_ = {};
};

UnpackedFile::UnpackedFile(const std::string& path, Compression compression, int64_t buffer_bytes)
    : source_(std::make_unique<Source>(path, compression)) {
  const auto wanted = buffer_bytes > 0 ? static_cast<size_t>(buffer_bytes) : kBufferBytes;
  buffer_.resize(std::clamp(wanted, size_t{1024}, kMaxBufferBytes));
}

UnpackedFile::~UnpackedFile() = default;

const std::string& UnpackedFile::path() const { return source_->path(); }

bool UnpackedFile::fill() {
  at_ = 0;
  end_ = source_->read(buffer_.data(), buffer_.size());
  return end_ > 0;
}

void UnpackedFile::read(size_t size, std::string& out) {
  out.clear();
  while (out.size() < size && (at_ < end_ || fill())) {
    const size_t part = std::min(size - out.size(), end_ - at_);
    out.append(buffer_, at_, part);
    at_ += part;
  }
}

bool UnpackedFile::read_line(std::string& out) {
  out.clear();
  while (at_ < end_ || fill()) {
    const auto* begin = buffer_.data() + at_;
    const auto* newline = static_cast<const char*>(std::memchr(begin, '\n', end_ - at_));
    const size_t part = newline ? static_cast<size_t>(newline - begin) : end_ - at_;
    out.append(begin, part);
    at_ += part + (newline ? 1 : 0);
    if (!newline) continue;
    if (out.ends_with('\r')) out.pop_back();
    return true;
  }
  return !out.empty();
}

Compression compression_of(const std::string& name) {
  if (name.empty()) return Compression::None;
  if (name == "ZLIB") return Compression::Zlib;
  if (name == "GZIP") return Compression::Gzip;
  throw invalid_argument("Unsupported compression_type: {}", name);
}

}  // namespace weir::io
