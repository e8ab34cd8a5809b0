#include "io/table.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/errors.h"
#include "io/snappy.h"
#include "io/varint.h"

namespace weir::io {
namespace {

// TensorFlow's sizes.
constexpr size_t kBlockBytes = 262144;
constexpr int kRestartInterval = 16;

constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr size_t kFooterBytes = 48;  // two handles, padding, magic
constexpr size_t kTrailerBytes = 5;  // how the block is compressed, checksum
constexpr char kNoCompression = 0, kSnappy = 1;

}  // namespace

void TableWriter::Block::add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (since_restart == kRestartInterval) {
    restarts.push_back(static_cast<uint32_t>(bytes.size()));
    since_restart = 0;
  } else {
    const size_t limit = std::min(key.size(), last_key.size());
    while (shared < limit && key[shared] == last_key[shared]) ++shared;
  }
  put_varint(bytes, shared);
  put_varint(bytes, key.size() - shared);
  put_varint(bytes, value.size());
  bytes.append(key.substr(shared)).append(value);
  last_key = key;
  ++since_restart;
}

std::string TableWriter::Block::finish() {
  for (uint32_t restart : restarts) put_fixed(bytes, restart);
  put_fixed(bytes, static_cast<uint32_t>(restarts.size()));
  std::string done = std::move(bytes);
  *this = Block();
  return done;
}

void TableWriter::add(std::string_view key, std::string_view value) {
  if (any_ && key <= std::string_view(block_.last_key)) {
    throw invalid_argument("a key of the table '{}' is not greater than the one before", file_.path());
  }
  // A full block ends only now, so that last_key stays at hand for the check above.
  if (block_.bytes.size() >= kBlockBytes) finish_block();
  block_.add(key, value);
  any_ = true;
}

std::string TableWriter::write_block(Block& block) {
  std::string handle;
  put_varint(handle, file_.size());
  std::string bytes = block.finish();
  put_varint(handle, bytes.size());
  bytes.push_back(kNoCompression);
  put_fixed(bytes, mask_crc(crc32c(bytes)));
  file_.append(bytes);
  return handle;
}

void TableWriter::finish_block() {
  const std::string last_key = block_.last_key;
  index_.since_restart = kRestartInterval;  // whole keys: readers search the index by halves
  if (index_.bytes.empty()) index_.restarts.clear();
  index_.add(last_key, write_block(block_));
}

void TableWriter::finish() {
  if (any_) finish_block();
  Block meta;
  std::string footer = write_block(meta);
  footer += write_block(index_);
  footer.resize(kFooterBytes - sizeof kMagic);
  put_fixed(footer, kMagic);
  file_.append(footer);
}

TableReader::TableReader(std::string path) : file_(std::move(path)) {
  if (file_.size() < kFooterBytes) fail("it is too short for a table");
  const std::string footer = file_.read(file_.size() - kFooterBytes, kFooterBytes);
  if (get_fixed<uint64_t>(std::string_view(footer).substr(kFooterBytes - sizeof kMagic)) != kMagic) {
    fail("it does not end as a table does");
  }
  std::string_view handles(footer);
  read_block(take_handle(handles));  // nothing is kept there, but its checksum must hold
  for_each_entry(read_block(take_handle(handles)), [&](const std::string& key, std::string_view value) {
    blocks_.push_back({key, take_handle(value)});
  });
}

void TableReader::fail(std::string_view what) const {
  throw error(Code::DataLoss, "the file '{}' is damaged: {}", file_.path(), what);
}

TableReader::Handle TableReader::take_handle(std::string_view& bytes) const {
  const auto offset = take_varint(bytes), size = take_varint(bytes);
  if (!offset || !size) fail("the position of a block is cut short");
  const uint64_t limit = file_.size() - kFooterBytes;
  if (*offset > limit || *size > limit - *offset || limit - *offset - *size < kTrailerBytes) {
    fail("a block lies outside of it");
  }
  return {*offset, *size};
}

std::string TableReader::read_block(const Handle& handle) const {
  std::string block = file_.read(handle.offset, handle.size + kTrailerBytes);
  const std::string_view all(block);
  if (crc32c(all.substr(0, handle.size + 1)) != unmask_crc(get_fixed<uint32_t>(all.substr(handle.size + 1)))) {
    fail("the checksum of a block does not fit");
  }
  const char kind = block[handle.size];
  block.resize(handle.size);
  if (kind == kNoCompression) return block;
  if (kind != kSnappy) fail("a block is compressed in an unknown way");
  std::optional<std::string> plain = snappy_uncompress(block);
  if (!plain) fail("a compressed block does not unpack");
  return *std::move(plain);
}

void TableReader::for_each_entry(std::string_view block,
                                 const std::function<void(const std::string&, std::string_view)>& visit) const {
  if (block.size() < sizeof(uint32_t)) fail("a block is too short");
  const size_t restarts = get_fixed<uint32_t>(block.substr(block.size() - sizeof(uint32_t)));
  if (restarts > block.size() / sizeof(uint32_t) - 1) fail("a block is too short");
  block.remove_suffix((restarts + 1) * sizeof(uint32_t));
  std::string key;
  while (!block.empty()) {
    const auto shared = take_varint(block), rest = take_varint(block), length = take_varint(block);
    if (!shared || !rest || !length || *shared > key.size() || *rest > block.size() || *length > block.size() - *rest) {
      fail("an entry is cut short");
    }
    key.resize(*shared);
    key += block.substr(0, *rest);
    visit(key, block.substr(*rest, *length));
    block.remove_prefix(*rest + *length);
  }
}

std::optional<std::string> TableReader::find(std::string_view key) const {
  auto it = std::lower_bound(blocks_.begin(), blocks_.end(), key,
                             [](const BlockRef& block, std::string_view k) { return block.last_key < k; });
  if (it == blocks_.end()) return std::nullopt;
  std::optional<std::string> found;
  for_each_entry(read_block(it->handle), [&](const std::string& k, std::string_view value) {
    if (k == key) found = value;
  });
  return found;
}

void TableReader::for_each(const std::function<void(std::string_view, std::string_view)>& visit) const {
  std::string last;
  bool first = true;
  for (const BlockRef& block : blocks_) {
    for_each_entry(read_block(block.handle), [&](const std::string& key, std::string_view value) {
      if (!first && key <= last) fail("its keys are not in order");
      visit(key, value);
      last = key;
      first = false;
    });
  }
}

}  // namespace weir::io
