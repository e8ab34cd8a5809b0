#include "base/errors.h"
#include "ops/data/file_dataset.h"

namespace weir::ops {
namespace {

class TextLineDataset final : public Dataset {
 public:
  TextLineDataset(std::vector<std::string> paths, Compression compression, int64_t buffer_bytes)
      : Dataset(one_string()), paths_(std::move(paths)), compression_(compression), buffer_bytes_(buffer_bytes) {}
  const std::vector<std::string>& paths() const { return paths_; }

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct File {
      File(const std::string& path, const TextLineDataset& d)
          : file(path, d.compression_, buffer_bytes(d.buffer_bytes_)) {}
      bool next(Element& out) {
        std::string line;
        if (!file.read_line(line)) return false;
        out = {Tensor(std::move(line))};
        return true;
      }
      io::BufferedInput file;
    };
    return std::make_unique<FileIterator<TextLineDataset, File>>(*this);
  }

 private:
  std::vector<std::string> paths_;
  Compression compression_;
  int64_t buffer_bytes_;
};

void cpu(KernelContext& c) {
  const auto buffer_bytes = c.scalar<int64_t>(2);
  if (buffer_bytes < 0) throw invalid_argument("`buffer_size` must be >= 0 (0 == default)");
  set_dataset(c, std::make_shared<const TextLineDataset>(
                     paths_input(c, 0), io::compression_from_name(c.scalar<std::string>(1)), buffer_bytes));
}

}  // namespace

OpDef text_line_dataset_op() {
  return {.name = "TextLineDataset",
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
