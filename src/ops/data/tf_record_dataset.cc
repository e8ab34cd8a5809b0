#include "base/errors.h"
#include "ops/data/file_dataset.h"

namespace weir::ops {
namespace {

class TFRecordDataset final : public Dataset {
 public:
  TFRecordDataset(std::vector<std::string> paths, Compression compression)
      : Dataset(one_string()), paths_(std::move(paths)), compression_(compression) {}
  const std::vector<std::string>& paths() const { return paths_; }

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct File {
      File(const std::string& path, const TFRecordDataset& d) : reader(path, d.compression_) {}
      bool next(Element& out) {
        std::string record;
        if (!reader.next(record)) return false;
        out = {Tensor(std::move(record))};
        return true;
      }
      RecordReader reader;
    };
    return std::make_unique<FileIterator<TFRecordDataset, File>>(*this);
  }

 private:
  std::vector<std::string> paths_;
  Compression compression_;
};

void cpu(KernelContext& c) {
  if (c.scalar<int64_t>(2) < 0) throw invalid_argument("`buffer_size` must be >= 0 (0 == no buffering)");
  set_dataset(c, std::make_shared<const TFRecordDataset>(paths_input(c, 0),
                                                         io::compression_from_name(c.scalar<std::string>(1))));
}

}  // namespace

OpDef tf_record_dataset_op() {
  return {.name = "TFRecordDataset",
          .inputs = "filenames:string; compression_type:string; buffer_size:int64",
          .outputs = "handle:variant",
          .flags = "stateful",
          .host = "filenames, compression_type, buffer_size, handle",
          .infer = infer_files<1, 2>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
