#include <fmt/format.h>

#include <optional>

#include "io/buffered_input.h"
#include "ops/io/reader_node.h"

namespace weir::ops {
namespace {

// The key of a line is its file and its number, from 1 on.
class TextLineReader final : public Reader {
 public:
  TextLineReader(std::string name, int64_t skipped) : Reader("TextLineReader", std::move(name)), skipped_(skipped) {}

 private:
  void begin(const std::string& work) override {
    file_.emplace(work);
    line_ = 0;
    std::string header;
    while (line_ < skipped_ && file_->read_line(header)) ++line_;
  }
  Step next(const std::string& work, std::string& key, std::string& value) override {
    if (!file_->read_line(value)) return {.produced = false, .at_end = true};
    key = fmt::format("{}:{}", work, ++line_);
    return {.produced = true, .at_end = false};
  }
  void end() override { file_.reset(); }

  const int64_t skipped_;
  std::optional<io::BufferedInput> file_;
  int64_t line_ = 0;
};

ResourcePtr<Reader> make(const PrepareContext& c, const std::string& name) {
  return make_resource<TextLineReader>(name, c.attr<int64_t>("skip_header_lines"));
}

constexpr std::string_view kAttrs = "skip_header_lines:int=0; container:string=''; shared_name:string=''";

}  // namespace

OpDef text_line_reader_op() { return reader_row<make>("TextLineReader", false, kAttrs, "stateful,deprecated@26"); }
OpDef text_line_reader_v2_op() { return reader_row<make>("TextLineReaderV2", true, kAttrs); }

}  // namespace weir::ops
