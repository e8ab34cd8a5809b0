#include "io/lmdb.h"
#include "ops/data/file_dataset.h"

namespace weir::ops {
namespace {

// The keys and values of databases, one after the other.
class LmdbDataset final : public Dataset {
 public:
  LmdbDataset(std::vector<std::string> paths, ElementSpec spec) : Dataset(std::move(spec)), paths_(std::move(paths)) {}
  const std::vector<std::string>& paths() const { return paths_; }

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct File {
      File(const std::string& path, const LmdbDataset&) : file(path) {}
      bool next(Element& out) {
        std::string key, value;
        if (!file.next(key, value)) return false;
        out = {Tensor(std::move(key)), Tensor(std::move(value))};
        return true;
      }
      io::LmdbReader file;
    };
    return std::make_unique<FileIterator<LmdbDataset, File>>(*this);
  }

 private:
  std::vector<std::string> paths_;
};

void cpu(KernelContext& c) {
  ElementSpec spec{{DType::String, DType::String}, {Shape{}, Shape{}}};
  set_dataset(c, std::make_shared<const LmdbDataset>(paths_input(c, 0), std::move(spec)));
}

}  // namespace

OpDef lmdb_dataset_op() {
  return {.name = "LMDBDataset",
          .inputs = "filenames:string",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .flags = "stateful",
          .host = "filenames, handle",
          .infer = infer_files<>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
