#include <optional>

#include "io/lmdb.h"
#include "ops/io/reader_node.h"

namespace weir::ops {
namespace {

// Keys and values are those of the database.
class LmdbDatabaseReader final : public Reader {
 public:
  explicit LmdbDatabaseReader(std::string name) : Reader("LMDBReader", std::move(name)) {}

 private:
  void begin(const std::string& work) override { file_.emplace(work); }
  Step next(const std::string&, std::string& key, std::string& value) override {
    if (!file_->next(key, value)) return {.produced = false, .at_end = true};
    return {.produced = true, .at_end = false};
  }
  void end() override { file_.reset(); }

  std::optional<io::LmdbReader> file_;
};

ResourcePtr<Reader> make(const PrepareContext&, const std::string& name) {
  return make_resource<LmdbDatabaseReader>(name);
}

}  // namespace

OpDef lmdb_reader_op() { return reader_row<make>("LMDBReader", false, "container:string=''; shared_name:string=''"); }

}  // namespace weir::ops
