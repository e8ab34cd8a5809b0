#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace weir::io {

// A file that is written from its beginning, through a buffer, and may be read meanwhile. For one thread at a time.
//
// When the disk is full, write() and flush() throw but keep every byte that is not in the file yet; the next flush()
// goes on exactly there. So a file never gets a hole, or a torn part that later bytes follow.
class OutputFile {
 public:
  enum class Existing { Replace, Fail };
  explicit OutputFile(std::string path, Existing existing = Existing::Replace);
  ~OutputFile();  // closes; what the buffer holds is lost unless close() came before
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  void write(std::string_view bytes) { write({bytes}); }
  void write(std::initializer_list<std::string_view> parts);
  void flush();  // hands everything to the operating system
  void sync();   // flush(), and waits until the bytes are on the disk
  void close();  // sync(), also of the directory, and closes. Closed files stay closed.

 private:
  std::string path_, buffer_;
  int fd_ = -1;
};

// A file, or a pipe, that is read from its beginning.
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  // Up to `size` bytes; 0 at the end of the file.
  size_t read(char* bytes, size_t size);

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace weir::io
