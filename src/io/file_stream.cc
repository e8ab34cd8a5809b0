#include "io/file_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/errors.h"
#include "io/file.h"

namespace weir::io {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

template <class Call>
auto retry_interrupted(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

}  // namespace

OutputFile::OutputFile(std::string path, Existing existing) : path_(std::move(path)) {
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (existing == Existing::Replace ? O_TRUNC : O_EXCL);
  fd_ = retry_interrupted([&] { return open(path_.c_str(), flags, 0666); });
  if (fd_ < 0) fail_file("create", path_, errno);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

void OutputFile::write(std::initializer_list<std::string_view> parts) {
  if (fd_ < 0) throw error(Code::FailedPrecondition, "'{}' is closed", path_);
  for (std::string_view part : parts) buffer_ += part;
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  size_t done = 0;
  while (done < buffer_.size()) {
    ssize_t count = retry_interrupted([&] { return ::write(fd_, buffer_.data() + done, buffer_.size() - done); });
    if (count < 0) {
      int failure = errno;
      buffer_.erase(0, done);
      fail_file("write", path_, failure);
    }
    done += static_cast<size_t>(count);
  }
  buffer_.clear();
}

void OutputFile::sync() {
  if (fd_ < 0) return;
  flush();
  // Pipes and the like cannot be synced, which is no failure.
  if (retry_interrupted([&] { return fsync(fd_); }) < 0 && errno != EINVAL && errno != EROFS) {
    fail_file("sync", path_, errno);
  }
}

void OutputFile::close() {
  if (fd_ < 0) return;
  sync();
  int failure = ::close(fd_) < 0 ? errno : 0;
  fd_ = -1;
  if (failure != 0 && failure != EINTR) fail_file("close", path_, failure);
  sync_directory(parent_directory(path_));
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  fd_ = retry_interrupted([&] { return open(path_.c_str(), O_RDONLY | O_CLOEXEC); });
  if (fd_ < 0) fail_file("open", path_, errno);
}

InputFile::~InputFile() { ::close(fd_); }

size_t InputFile::read(char* bytes, size_t size) {
  ssize_t count = retry_interrupted([&] { return ::read(fd_, bytes, size); });
  if (count < 0) fail_file("read", path_, errno);
  return static_cast<size_t>(count);
}

}  // namespace weir::io
