#include "io/file.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/errors.h"

namespace weir::io {
namespace {

// Small appends are gathered; larger ones go to the system as they are.
constexpr size_t kBufferBytes = size_t{1} << 16;

Code code_of(int error_number) {
  switch (error_number) {
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
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::ResourceExhausted;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
      return Code::FailedPrecondition;
    case EINVAL:
    case ENAMETOOLONG:
      return Code::InvalidArgument;
    default:
      return Code::Unknown;
  }
}

int open_file(const std::string& path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// Returns errno, or 0.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

void fail_file(std::string_view what, const std::string& path, int error_number) {
  throw error(code_of(error_number), "cannot {} '{}': {}", what, path, std::generic_category().message(error_number));
}

std::string read_file(const std::string& path) {
  const int fd = open_file(path, O_RDONLY);
  if (fd < 0) fail_file("open", path, errno);
  // Not by its size: files of /proc and pipes say 0.
  std::string contents;
  struct stat status {};
  if (::fstat(fd, &status) == 0 && status.st_size > 0) contents.reserve(static_cast<size_t>(status.st_size));
  std::string chunk(kBufferBytes, '\0');
  for (;;) {
    const ssize_t length = ::read(fd, chunk.data(), chunk.size());
    if (length < 0 && errno == EINTR) continue;
    const int failure = length < 0 ? errno : 0;
    if (length <= 0) {
      ::close(fd);
      if (failure) fail_file("read", path, failure);
      return contents;
    }
    contents.append(chunk.data(), static_cast<size_t>(length));
  }
}

void write_file(const std::string& path, std::string_view contents) {
  const int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (fd < 0) fail_file("open", path, errno);
  int failure = write_all(fd, contents);
  if (::close(fd) != 0 && !failure) failure = errno;
  if (failure) fail_file("write", path, failure);
}

bool file_exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

int64_t modification_time_us(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_file("examine", path, errno);
  return static_cast<int64_t>(status.st_mtim.tv_sec) * 1'000'000 + status.st_mtim.tv_nsec / 1000;
}

void rename_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_file("rename", from, errno);
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_file("remove", path, errno);
}

void remove_empty_directory(const std::string& path) {
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT) fail_file("remove", path, errno);
}

void create_directories(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) fail_file("make the directory", path, failure.value());
}

std::string parent_directory(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void sync_directory(const std::string& directory) {
  const int fd = open_file(directory, O_RDONLY | O_DIRECTORY);
  if (fd < 0) fail_file("open", directory, errno);
  // File systems that cannot sync a directory say EINVAL; there is nothing better to do on them.
  const int failure = ::fsync(fd) != 0 && errno != EINVAL ? errno : 0;
  ::close(fd);
  if (failure) fail_file("sync", directory, failure);
}

std::vector<std::string> match_files(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  if (status == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (status == GLOB_NOSPACE) throw error(Code::ResourceExhausted, "no memory to match '{}'", pattern);
  std::sort(paths.begin(), paths.end());
  return paths;
}

RandomAccessFile::RandomAccessFile(std::string path) : path_(std::move(path)), fd_(open_file(path_, O_RDONLY)) {
  if (fd_ < 0) fail_file("open", path_, errno);
  struct stat status {};
  int failure = ::fstat(fd_, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (failure) {
    ::close(fd_);
    fail_file("open", path_, failure);
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

RandomAccessFile::~RandomAccessFile() { ::close(fd_); }

void RandomAccessFile::read(uint64_t offset, size_t bytes, void* out) const {
  auto* to = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t length = ::pread(fd_, to, bytes, static_cast<off_t>(offset));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) fail_file("read", path_, errno);
    if (length == 0) throw error(Code::DataLoss, "'{}' ends at byte {}; {} more are wanted", path_, offset, bytes);
    to += length;
    offset += static_cast<uint64_t>(length);
    bytes -= static_cast<size_t>(length);
  }
}

std::string RandomAccessFile::read(uint64_t offset, size_t bytes) const {
  // Before memory is taken for it.
  if (offset > size_ || bytes > size_ - offset) {
    throw error(Code::DataLoss, "'{}' has {} bytes; {} at {} are wanted", path_, size_, bytes, offset);
  }
  std::string contents(bytes, '\0');
  read(offset, bytes, contents.data());
  return contents;
}

DurableFile::DurableFile(std::string path) : path_(std::move(path)) {
  static std::atomic<uint64_t> counter{0};
  do {
    temporary_ = fmt::format("{}.tempstate{}_{}", path_, ::getpid(), counter.fetch_add(1));
    fd_ = open_file(temporary_, O_WRONLY | O_CREAT | O_EXCL);
  } while (fd_ < 0 && errno == EEXIST);  // of a killed process that had our number
  if (fd_ < 0) fail_file("create", path_, errno);
}

DurableFile::~DurableFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void DurableFile::append(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    flush();
    if (bytes.size() > kBufferBytes) {
      if (int failure = write_all(fd_, bytes)) fail_file("write", path_, failure);
      return;
    }
  }
  buffer_ += bytes;
}

void DurableFile::flush() {
  if (int failure = write_all(fd_, buffer_)) fail_file("write", path_, failure);
  buffer_.clear();
}

void DurableFile::commit() {
  flush();
  if (::fsync(fd_) != 0) fail_file("sync", path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_file("rename to", path_, errno);
  ::close(std::exchange(fd_, -1));
  sync_directory(parent_directory(path_));
}

void write_file_durably(const std::string& path, std::string_view contents) {
  DurableFile file(path);
  file.append(contents);
  file.commit();
}

}  // namespace weir::io
