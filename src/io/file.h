#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::io {

// Files, with errors that name the path and the system's reason. The code follows errno: NotFound, PermissionDenied,
// AlreadyExists, ResourceExhausted (no space), FailedPrecondition (a directory where a file is wanted), else Unknown.

[[noreturn]] void fail_file(std::string_view what, const std::string& path, int error_number);

std::string read_file(const std::string& path);
// Replaces the contents in place, without the promises of DurableFile: also for devices and pipes.
void write_file(const std::string& path, std::string_view contents);
bool file_exists(const std::string& path);  // also a directory
int64_t modification_time_us(const std::string& path);
void rename_file(const std::string& from, const std::string& to);
// Both do nothing when there is no such file.
void remove_file(const std::string& path);
void remove_empty_directory(const std::string& path);
void create_directories(const std::string& path);  // with all parents; those that exist are fine

// "a/b" -> "a", "b" -> ".", "/b" -> "/".
std::string parent_directory(const std::string& path);
// Names (renamed and removed files) survive a loss of power once their directory is synced.
void sync_directory(const std::string& directory);

// Paths that match a pattern of the shell, sorted. A pattern without special characters matches the file itself.
std::vector<std::string> match_files(const std::string& pattern);

// Reads at given positions. Thread-safe.
class RandomAccessFile {
 public:
  explicit RandomAccessFile(std::string path);
  ~RandomAccessFile();
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // when it was opened
  // Throws DataLoss when the file ends before.
  void read(uint64_t offset, size_t bytes, void* out) const;
  std::string read(uint64_t offset, size_t bytes) const;

 private:
  std::string path_;
  int fd_;
  uint64_t size_;
};

// A file that appears whole or not at all: written under a temporary name in the same directory, synced, and renamed by
// commit(), which syncs the directory too. Without commit() nothing is left of it, unless the process is killed, which
// leaves the temporary file ("<path>.tempstate...").
class DurableFile {
 public:
  explicit DurableFile(std::string path);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // bytes appended so far
  void append(std::string_view bytes);
  void commit();

 private:
  void flush();

  std::string path_, temporary_, buffer_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

void write_file_durably(const std::string& path, std::string_view contents);

}  // namespace weir::io
