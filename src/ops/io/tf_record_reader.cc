#include <fmt/format.h>

#include <optional>

#include "io/deflate.h"
#include "ops/io/reader_node.h"
#include "weir/records.h"

namespace weir::ops {
namespace {

// The key of a record is its file and where in it the record begins.
class TFRecordReader final : public Reader {
 public:
  TFRecordReader(std::string name, Compression compression)
      : Reader("TFRecordReader", std::move(name)), compression_(compression) {}

 private:
  void begin(const std::string& work) override { file_.emplace(work, compression_); }
  Step next(const std::string& work, std::string& key, std::string& value) override {
    const int64_t offset = file_->offset();
    if (!file_->next(value)) return {.produced = false, .at_end = true};
    key = fmt::format("{}:{}", work, offset);
    return {.produced = true, .at_end = false};
  }
  void end() override { file_.reset(); }

  const Compression compression_;
  std::optional<RecordReader> file_;
};

ResourcePtr<Reader> make(const PrepareContext& c, const std::string& name) {
  return make_resource<TFRecordReader>(name, io::compression_from_name(c.attr<std::string>("compression_type")));
}

constexpr std::string_view kAttrs = "container:string=''; shared_name:string=''; compression_type:string=''";

}  // namespace

OpDef tf_record_reader_op() { return reader_row<make>("TFRecordReader", false, kAttrs, "stateful,deprecated@26"); }
OpDef tf_record_reader_v2_op() { return reader_row<make>("TFRecordReaderV2", true, kAttrs); }

}  // namespace weir::ops
