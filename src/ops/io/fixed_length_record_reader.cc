#include <fmt/format.h>

#include <optional>

#include "base/errors.h"
#include "io/buffered_input.h"
#include "ops/io/reader_node.h"

namespace weir::ops {
namespace {

struct Layout {
  uint64_t header, record, footer, hop;  // hop: from the beginning of a record to that of the next
};

// The key of a record is its file and its number, from 0 on. Bytes at the end that make no whole record are left out.
class FixedLengthRecordReader final : public Reader {
 public:
  FixedLengthRecordReader(std::string name, const Layout& layout, Compression compression)
      : Reader("FixedLengthRecordReader", std::move(name)), layout_(layout), compression_(compression) {}

 private:
  void begin(const std::string& work) override {
    file_.emplace(work, compression_);
    window_.clear();
    record_ = 0;
    if (file_->skip(layout_.header) < layout_.header) {
      end();
      throw invalid_argument("'{}' is shorter than a header of {} bytes", work, layout_.header);
    }
  }
  Step next(const std::string& work, std::string& key, std::string& value) override {
    // What a packed file holds is known at its end only, so the footer is looked for behind every record.
    const uint64_t wanted = layout_.record + layout_.footer;
    if (window_.size() < wanted) file_->append(window_, wanted - window_.size());
    if (window_.size() < wanted) return {.produced = false, .at_end = true};
    value.assign(window_, 0, layout_.record);
    key = fmt::format("{}:{}", work, record_++);
    if (layout_.hop > window_.size()) file_->skip(layout_.hop - window_.size());
    window_.erase(0, layout_.hop);
    return {.produced = true, .at_end = false};
  }
  void end() override { file_.reset(); }

  const Layout layout_;
  const Compression compression_;
  std::optional<io::BufferedInput> file_;
  std::string window_;  // the bytes of the next record and of what may be the footer, as far as they are read
  int64_t record_ = 0;
};

uint64_t bytes_of(const PrepareContext& c, std::string_view attr, int64_t least) {
  const int64_t bytes = c.attr<int64_t>(attr);
  if (bytes < least) throw invalid_argument("{} must be >= {} not {}", attr, least, bytes);
  return static_cast<uint64_t>(bytes);
}

ResourcePtr<Reader> make_with(const PrepareContext& c, const std::string& name, Compression compression) {
  Layout layout{.header = bytes_of(c, "header_bytes", 0),
                .record = bytes_of(c, "record_bytes", 1),
                .footer = bytes_of(c, "footer_bytes", 0),
                .hop = bytes_of(c, "hop_bytes", 0)};
  if (layout.hop == 0) layout.hop = layout.record;
  return make_resource<FixedLengthRecordReader>(name, layout, compression);
}

ResourcePtr<Reader> make(const PrepareContext& c, const std::string& name) {
  return make_with(c, name, Compression::None);
}

ResourcePtr<Reader> make_v2(const PrepareContext& c, const std::string& name) {
  return make_with(c, name, io::compression_from_name(c.attr<std::string>("encoding")));
}

}  // namespace

OpDef fixed_length_record_reader_op() {
  return reader_row<make>("FixedLengthRecordReader", false,
                          "header_bytes:int=0; record_bytes:int; footer_bytes:int=0; hop_bytes:int=0; "
                          "container:string=''; shared_name:string=''",
                          "stateful,deprecated@26");
}
OpDef fixed_length_record_reader_v2_op() {
  return reader_row<make_v2>("FixedLengthRecordReaderV2", true,
                             "header_bytes:int=0; record_bytes:int; footer_bytes:int=0; hop_bytes:int=0; "
                             "container:string=''; shared_name:string=''; encoding:string=''");
}

}  // namespace weir::ops
