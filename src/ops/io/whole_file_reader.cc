#include "io/file.h"
#include "ops/io/reader_node.h"

namespace weir::ops {
namespace {

// A record is a file; its key is the file's name.
class WholeFileReader final : public Reader {
 public:
  explicit WholeFileReader(std::string name) : Reader("WholeFileReader", std::move(name)) {}

 private:
  void begin(const std::string& work) override { contents_ = io::read_file(work); }
  Step next(const std::string& work, std::string& key, std::string& value) override {
    key = work;
    value = std::move(contents_);
    return {.produced = true, .at_end = true};
  }
  bool can_be_saved() const override { return true; }

  std::string contents_;
};

// A record is whatever the queue holds, as key and as value.
class IdentityReader final : public Reader {
 public:
  explicit IdentityReader(std::string name) : Reader("IdentityReader", std::move(name)) {}

 private:
  void begin(const std::string&) override {}
  Step next(const std::string& work, std::string& key, std::string& value) override {
    key = value = work;
    return {.produced = true, .at_end = true};
  }
  bool can_be_saved() const override { return true; }
};

template <class R>
ResourcePtr<Reader> make(const PrepareContext&, const std::string& name) {
  return make_resource<R>(name);
}

constexpr std::string_view kAttrs = "container:string=''; shared_name:string=''";

}  // namespace

OpDef whole_file_reader_op() { return reader_row<make<WholeFileReader>>("WholeFileReader", false, kAttrs); }
OpDef whole_file_reader_v2_op() { return reader_row<make<WholeFileReader>>("WholeFileReaderV2", true, kAttrs); }
OpDef identity_reader_op() {
  return reader_row<make<IdentityReader>>("IdentityReader", false, kAttrs, "stateful,deprecated@26");
}
OpDef identity_reader_v2_op() { return reader_row<make<IdentityReader>>("IdentityReaderV2", true, kAttrs); }

}  // namespace weir::ops
