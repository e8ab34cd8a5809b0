#pragma once

#include <memory>
#include <string>
#include <vector>

namespace weir::io {

class RandomAccessFile;

// Reads the pairs of an LMDB database one after the other, in the order of their keys. Its own few lines instead of the
// library: that maps the file and trusts it, so that a damaged one ends the process. For one thread at a time.
class LmdbReader {
 public:
  // A database file, or a folder with "data.mdb". Throws what the file system says, DataLoss for a damaged file and
  // Unimplemented for what is not read here: other versions, and several values under one key.
  explicit LmdbReader(const std::string& path);
  ~LmdbReader();
  LmdbReader(const LmdbReader&) = delete;
  LmdbReader& operator=(const LmdbReader&) = delete;

  // The next pair; false after the last.
  bool next(std::string& key, std::string& value);

 private:
  // A page on the way from the root to where the reader stands, and the next of its entries.
  struct Level {
    std::string page;
    size_t at = 0, entries = 0;
    bool is_leaf = false;
  };
  struct Meta;

  Meta read_meta(uint64_t offset) const;
  void descend(uint64_t page_number);
  std::string_view entry(const Level& level, size_t index, size_t header) const;
  void read_entry(const Level& level, std::string& key, std::string& value) const;
  [[noreturn]] void damaged(std::string_view what) const;

  std::unique_ptr<RandomAccessFile> file_;
  uint64_t page_size_ = 0, pages_ = 0, depth_ = 0;
  uint64_t visited_ = 0;  // pages so far: more than there are would be a circle
  std::vector<Level> levels_;
};

}  // namespace weir::io
