#include "io/lmdb.h"

#include <bit>
#include <cstring>
#include <filesystem>

#include "base/errors.h"
#include "io/file.h"

static_assert(std::endian::native == std::endian::little, "the format is that of the machine that wrote it");

namespace weir::io {
namespace {

constexpr uint32_t kMagic = 0xbeefc0de, kVersion = 1;
constexpr size_t kPageHeader = 16, kNodeHeader = 8, kMetaBytes = 136;
constexpr uint16_t kBranch = 1, kLeaf = 2, kOverflow = 4, kPacked = 0x20;  // of pages
constexpr uint16_t kElsewhere = 1, kSeveral = 4;                           // of entries
constexpr uint16_t kSortedDuplicates = 4;                                  // of databases
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr uint64_t kMaxDepth = 64;

// The number at a place; REQUIRES: it is within the bytes.
template <class T>
T number(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string data_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? path + "/data.mdb" : path;
}

}  // namespace

// One of the two descriptions at the beginning of a file; the one of the later transaction holds.
struct LmdbReader::Meta {
  uint64_t page_size = 0, last_page = 0, transaction = 0, root = kNoPage, depth = 0;
  uint16_t flags = 0;
};

void LmdbReader::damaged(std::string_view what) const {
  throw error(Code::DataLoss, "the LMDB file '{}' is damaged: {}", file_->path(), what);
}

LmdbReader::Meta LmdbReader::read_meta(uint64_t offset) const {
  if (file_->size() < offset + kPageHeader + kMetaBytes) damaged("it is cut short");
  const std::string page = file_->read(offset, kPageHeader + kMetaBytes);
  const std::string_view meta = std::string_view(page).substr(kPageHeader);
  if (number<uint32_t>(meta, 0) != kMagic) damaged("it does not begin as such files do");
  if (number<uint32_t>(meta, 4) != kVersion) {
    throw error(Code::Unimplemented, "the LMDB file '{}' is of version {}; {} can be read", file_->path(),
                number<uint32_t>(meta, 4), kVersion);
  }
  constexpr size_t kFree = 24, kMain = kFree + 48;  // what is said of the list of free pages, and of the data
  return {.page_size = number<uint32_t>(meta, kFree),
          .last_page = number<uint64_t>(meta, kMain + 48),
          .transaction = number<uint64_t>(meta, kMain + 56),
          .root = number<uint64_t>(meta, kMain + 40),
          .depth = number<uint16_t>(meta, kMain + 6),
          .flags = number<uint16_t>(meta, kMain + 4)};
}

LmdbReader::LmdbReader(const std::string& path) : file_(std::make_unique<RandomAccessFile>(data_file(path))) {
  Meta meta = read_meta(0);
  if (!std::has_single_bit(meta.page_size) || meta.page_size < 256 || meta.page_size > 65536) {
    damaged("the size of its pages makes no sense");
  }
  if (const Meta other = read_meta(meta.page_size); other.transaction > meta.transaction) {
    if (other.page_size != meta.page_size) damaged("the size of its pages makes no sense");
    meta = other;
  }
  if ((meta.flags & kSortedDuplicates) != 0) {
    throw error(Code::Unimplemented, "the LMDB file '{}' has several values under one key", file_->path());
  }
  page_size_ = meta.page_size;
  pages_ = file_->size() / page_size_;
  depth_ = std::min<uint64_t>(meta.depth, kMaxDepth);
  if (meta.last_page >= pages_) damaged("it is cut short");
  if (meta.root != kNoPage) descend(meta.root);
}

LmdbReader::~LmdbReader() = default;

// Goes down from a page to the first leaf below it.
void LmdbReader::descend(uint64_t page_number) {
  for (;;) {
    if (page_number < 2 || page_number >= pages_) damaged("a page number is too large");
    if (levels_.size() >= depth_ || ++visited_ > pages_) damaged("its pages go round in circles");
    Level level{.page = file_->read(page_number * page_size_, page_size_)};
    const auto flags = number<uint16_t>(level.page, 10), end = number<uint16_t>(level.page, 12);
    if ((flags & kPacked) != 0 || ((flags & kBranch) != 0) == ((flags & kLeaf) != 0))
      damaged("a page is of no known kind");
    if (end < kPageHeader || end > page_size_) damaged("a page has more entries than it can hold");
    level.entries = (end - kPageHeader) / 2;
    level.is_leaf = (flags & kLeaf) != 0;
    if (level.entries == 0) damaged("a page is empty");
    levels_.push_back(std::move(level));
    Level& pushed = levels_.back();
    if (pushed.is_leaf) return;
    const std::string_view node = entry(pushed, pushed.at++, kNodeHeader);
    page_number = number<uint16_t>(node, 0) | uint64_t{number<uint16_t>(node, 2)} << 16 |
                  uint64_t{number<uint16_t>(node, 4)} << 32;
  }
}

// The bytes of a page from an entry on: at least `header` of them.
std::string_view LmdbReader::entry(const Level& level, size_t index, size_t header) const {
  const auto offset = number<uint16_t>(level.page, kPageHeader + 2 * index);
  if (offset < kPageHeader || offset + header > level.page.size()) damaged("an entry lies outside of its page");
  return std::string_view(level.page).substr(offset);
}

void LmdbReader::read_entry(const Level& level, std::string& key, std::string& value) const {
  const std::string_view node = entry(level, level.at, kNodeHeader);
  const uint64_t size = number<uint16_t>(node, 0) | uint64_t{number<uint16_t>(node, 2)} << 16;
  const auto flags = number<uint16_t>(node, 4), key_size = number<uint16_t>(node, 6);
  const uint64_t here = (flags & kElsewhere) != 0 ? sizeof(uint64_t) : size;
  if ((flags & kSeveral) != 0) {
    throw error(Code::Unimplemented, "the LMDB file '{}' has several values under one key", file_->path());
  }
  if (kNodeHeader + key_size + here > node.size()) damaged("an entry lies outside of its page");
  key = node.substr(kNodeHeader, key_size);
  if ((flags & kElsewhere) == 0) {
    value = node.substr(kNodeHeader + key_size, size);
    return;
  }
  const auto page_number = number<uint64_t>(node, kNodeHeader + key_size);
  if (page_number < 2 || page_number >= pages_) damaged("a page number is too large");
  const uint64_t offset = page_number * page_size_;
  if (size > file_->size() - offset - kPageHeader) damaged("a value is longer than the file");
  const std::string header = file_->read(offset, kPageHeader);
  if (number<uint16_t>(header, 10) != kOverflow) damaged("a value's page is of another kind");
  value = file_->read(offset + kPageHeader, size);
}

bool LmdbReader::next(std::string& key, std::string& value) {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.at >= level.entries) {
      levels_.pop_back();
      continue;
    }
    if (level.is_leaf) {
      read_entry(level, key, value);
      ++level.at;
      return true;
    }
    const std::string_view node = entry(level, level.at++, kNodeHeader);
    descend(number<uint16_t>(node, 0) | uint64_t{number<uint16_t>(node, 2)} << 16 |
            uint64_t{number<uint16_t>(node, 4)} << 32);
  }
  return false;
}

}  // namespace weir::io
