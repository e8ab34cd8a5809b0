#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"

namespace weir::io {

// LevelDB's table: sorted keys with values in blocks, each with a checksum, and an index of blocks at the end. The
// index of a V2 checkpoint is one, and so is a whole V1 checkpoint.

// Appends a table to a file. Blocks are not compressed.
class TableWriter {
 public:
  explicit TableWriter(DurableFile& file) : file_(file) {}

  // Keys must ascend; throws InvalidArgument.
  void add(std::string_view key, std::string_view value);
  // Writes the index. The file is the caller's to commit.
  void finish();

 private:
  // Entries under construction. A key is written as what differs from the one before, except at restart points.
  struct Block {
    std::string bytes, last_key;
    std::vector<uint32_t> restarts = {0};
    int since_restart = 0;
    void add(std::string_view key, std::string_view value);
    std::string finish();
  };
  std::string write_block(Block& block);  // its handle: offset and size as varints
  void finish_block();

  DurableFile& file_;
  Block block_, index_;
  bool any_ = false;
};

// Reads a table. Everything that is read has had its checksum verified; damage throws DataLoss that names the file.
// Thread-safe.
class TableReader {
 public:
  explicit TableReader(std::string path);

  const std::string& path() const { return file_.path(); }
  // The value of a key, or nothing.
  std::optional<std::string> find(std::string_view key) const;
  // All entries, in ascending order of keys.
  void for_each(const std::function<void(std::string_view key, std::string_view value)>& visit) const;

 private:
  struct Handle {
    uint64_t offset, size;
  };
  struct BlockRef {
    std::string last_key;  // no key of the block is greater
    Handle handle;
  };
  Handle take_handle(std::string_view& bytes) const;
  std::string read_block(const Handle& handle) const;
  void for_each_entry(std::string_view block,
                      const std::function<void(const std::string& key, std::string_view value)>& visit) const;
  [[noreturn]] void fail(std::string_view what) const;

  RandomAccessFile file_;
  std::vector<BlockRef> blocks_;
};

}  // namespace weir::io
