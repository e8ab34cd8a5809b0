#include "io/buffered_input.h"

#include <algorithm>
#include <cstring>

namespace weir::io {
namespace {

constexpr size_t kTrusted = size_t{1} << 20;

}  // namespace

BufferedInput::BufferedInput(const std::string& path, Compression compression, size_t buffer_bytes)
    : file_(path),
      capacity_(std::max<size_t>(buffer_bytes, 1)),
      buffer_(std::make_unique_for_overwrite<char[]>(capacity_)) {
  if (compression != Compression::None) inflater_.emplace(compression, "'" + path + "'");
}

size_t BufferedInput::read_source(char* bytes, size_t size) {
  if (!inflater_) return file_.read(bytes, size);
  return inflater_->read(bytes, size, [&](char* to, size_t count) { return file_.read(to, count); });
}

bool BufferedInput::fill() {
  if (begin_ < end_) return true;
  begin_ = 0;
  end_ = 0;  // also when the read throws
  end_ = read_source(buffer_.get(), capacity_);
  return end_ > 0;
}

size_t BufferedInput::read(char* bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    if (begin_ == end_ && size - done >= capacity_) {  // past the buffer
      const size_t count = read_source(bytes + done, size - done);
      if (count == 0) break;
      offset_ += static_cast<int64_t>(count);
      done += count;
      continue;
    }
    if (!fill()) break;
    const size_t count = std::min(size - done, end_ - begin_);
    std::memcpy(bytes + done, buffer_.get() + begin_, count);
    advance(count);
    done += count;
  }
  return done;
}

size_t BufferedInput::append(std::string& to, uint64_t size) {
  size_t done = 0;
  while (done < size && fill()) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(size - done, end_ - begin_));
    // The size may be a lie of a damaged file: a megabyte is taken on trust, after that it doubles with what came.
    if (to.size() + count > to.capacity()) {
      to.reserve(to.size() +
                 static_cast<size_t>(std::min<uint64_t>(size - done, std::max(kTrusted, to.size() + count))));
    }
    to.append(buffer_.get() + begin_, count);
    advance(count);
    done += count;
  }
  return done;
}

uint64_t BufferedInput::skip(uint64_t size) {
  uint64_t done = 0;
  while (done < size && fill()) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(size - done, end_ - begin_));
    advance(count);
    done += count;
  }
  return done;
}

bool BufferedInput::read_line(std::string& line) {
  line.clear();
  bool any = false;
  while (fill()) {
    any = true;
    const char* begin = buffer_.get() + begin_;
    const auto* end = static_cast<const char*>(std::memchr(begin, '\n', end_ - begin_));
    const size_t count = end ? static_cast<size_t>(end - begin) : end_ - begin_;
    line.append(begin, count);
    advance(count + (end ? 1 : 0));
    if (end) break;
  }
  if (line.ends_with('\r')) line.pop_back();
  return any;
}

}  // namespace weir::io
