#include "io/file_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace weir {
namespace {

constexpr size_t kBufferBytes = 1 << 16;

Code code_of(int errno_value) {
  switch (errno_value) {
    case ENOENT:
      return Code::NotFound;
    case EEXIST:
      return Code::AlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::PermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::ResourceExhausted;
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
      return Code::FailedPrecondition;
    case ENAMETOOLONG:
      return Code::InvalidArgument;
    default:
      return Code::Unknown;
  }
}

template <class Call>
auto retry_interrupted(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

// 0, or the errno. Pipes and the like cannot be synced, which is no failure.
int sync_descriptor(int fd) {
  if (retry_interrupted([&] { return fsync(fd); }) == 0 || errno == EINVAL || errno == EROFS) return 0;
  return errno;
}

}  // namespace

Error file_error(int errno_value, std::string_view what, std::string_view path) {
  return error(code_of(errno_value), "cannot {} '{}': {}", what, path, std::strerror(errno_value));
}

void make_directories(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) throw file_error(failure.value(), "make the directory", path);
  if (!std::filesystem::is_directory(path, failure)) throw file_error(ENOTDIR, "make the directory", path);
}

void sync_directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string directory = parent.empty() ? std::string(".") : parent.string();
  int fd = retry_interrupted([&] { return open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) {
    if (errno == EACCES) return;  // may be written to without being readable
    throw file_error(errno, "open", directory);
  }
  int failure = sync_descriptor(fd);
  ::close(fd);
  if (failure) throw file_error(failure, "sync", directory);
}

OutputFile::OutputFile(std::string path, Existing existing) : path_(std::move(path)) {
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (existing == Existing::Replace ? O_TRUNC : O_EXCL);
  fd_ = retry_interrupted([&] { return open(path_.c_str(), flags, 0666); });
  if (fd_ < 0) throw file_error(errno, "create", path_);
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
      throw file_error(failure, "write", path_);
    }
    done += static_cast<size_t>(count);
  }
  buffer_.clear();
}

void OutputFile::sync() {
  if (fd_ < 0) return;
  flush();
  if (int failure = sync_descriptor(fd_)) throw file_error(failure, "sync", path_);
}

void OutputFile::close() {
  if (fd_ < 0) return;
  sync();
  int failure = ::close(fd_) < 0 ? errno : 0;
  fd_ = -1;
  if (failure != 0 && failure != EINTR) throw file_error(failure, "close", path_);
  sync_directory_of(path_);
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  fd_ = retry_interrupted([&] { return open(path_.c_str(), O_RDONLY | O_CLOEXEC); });
  if (fd_ < 0) throw file_error(errno, "open", path_);
}

InputFile::~InputFile() { ::close(fd_); }

size_t InputFile::read(char* bytes, size_t size) {
  ssize_t count = retry_interrupted([&] { return ::read(fd_, bytes, size); });
  if (count < 0) throw file_error(errno, "read", path_);
  return static_cast<size_t>(count);
}

}  // namespace weir
