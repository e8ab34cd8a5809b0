#include <filesystem>

#include "base/errors.h"
#include "ops/data/file_dataset.h"

namespace weir::ops {
namespace {

struct RecordLayout {
  int64_t header, record, footer, buffer_bytes;
  Compression compression;
};

class FixedLengthRecordDataset final : public Dataset {
 public:
  FixedLengthRecordDataset(std::vector<std::string> paths, const RecordLayout& layout)
      : Dataset(one_string()), paths_(std::move(paths)), layout_(layout) {}
  const std::vector<std::string>& paths() const { return paths_; }

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    // What follows the header is read one record and footer ahead, which tells where the footer begins whether the
    // file is packed or not.
    struct File {
      File(const std::string& path, const FixedLengthRecordDataset& d)
          : layout(d.layout_), file(path, layout.compression, buffer_bytes(layout.buffer_bytes)) {
        std::error_code unknown;
        const auto size = std::filesystem::file_size(path, unknown);
        if (!unknown && layout.compression == Compression::None) {
          const int64_t body = static_cast<int64_t>(size) - layout.header - layout.footer;
          if (body < 0 || body % layout.record != 0) fail(body);
        }
        if (file.skip(static_cast<uint64_t>(layout.header)) < static_cast<uint64_t>(layout.header)) fail();
        if (file.append(ahead, static_cast<uint64_t>(layout.footer)) < static_cast<size_t>(layout.footer)) fail();
      }
      bool next(Element& out) {
        const size_t got = file.append(ahead, static_cast<uint64_t>(layout.record));
        if (got == 0) return false;
        if (got < static_cast<size_t>(layout.record)) fail();
        std::string record = ahead.substr(0, static_cast<size_t>(layout.record));
        ahead.erase(0, static_cast<size_t>(layout.record));
        out = {Tensor(std::move(record))};
        return true;
      }
      // A packed file tells its length only at its end.
      [[noreturn]] void fail(int64_t body = -1) const {
        throw invalid_argument(
            "Excluding the header ({} bytes) and footer ({} bytes), input file \"{}\" has body length{}, which is not "
            "an "
            "exact multiple of the record length ({} bytes).",
            layout.header, layout.footer, file.path(), body < 0 ? "" : fmt::format(" {} bytes", body), layout.record);
      }
      RecordLayout layout;
      io::BufferedInput file;
      std::string ahead;  // as many bytes as the footer has
    };
    return std::make_unique<FileIterator<FixedLengthRecordDataset, File>>(*this);
  }

 private:
  std::vector<std::string> paths_;
  RecordLayout layout_;
};

void cpu(KernelContext& c) {
  RecordLayout layout{c.scalar<int64_t>(1), c.scalar<int64_t>(2), c.scalar<int64_t>(3), c.scalar<int64_t>(4),
                      c.inputs() > 5 ? io::compression_from_name(c.scalar<std::string>(5)) : Compression::None};
  constexpr int64_t kMaxBytes = int64_t{1} << 31;
  if (layout.header < 0 || layout.header > kMaxBytes) throw invalid_argument("`header_bytes` must be >= 0");
  if (layout.record <= 0 || layout.record > kMaxBytes) throw invalid_argument("`record_bytes` must be > 0");
  if (layout.footer < 0 || layout.footer > kMaxBytes) throw invalid_argument("`footer_bytes` must be >= 0");
  if (layout.buffer_bytes < 0) throw invalid_argument("`buffer_size` must be >= 0 (0 == default)");
  set_dataset(c, std::make_shared<const FixedLengthRecordDataset>(paths_input(c, 0), layout));
}

OpDef row(std::string_view name, std::string_view inputs, std::string_view host, void (*infer)(InferContext&)) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "handle:variant",
          .flags = "stateful",
          .host = host,
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace

OpDef fixed_length_record_dataset_op() {
  return row("FixedLengthRecordDataset",
             "filenames:string; header_bytes:int64; record_bytes:int64; footer_bytes:int64; buffer_size:int64",
             "filenames, header_bytes, record_bytes, footer_bytes, buffer_size, handle", infer_files<1, 2, 3, 4>);
}
OpDef fixed_length_record_dataset_v2_op() {
  return row("FixedLengthRecordDatasetV2",
             "filenames:string; header_bytes:int64; record_bytes:int64; footer_bytes:int64; buffer_size:int64; "
             "compression_type:string",
             "filenames, header_bytes, record_bytes, footer_bytes, buffer_size, compression_type, handle",
             infer_files<1, 2, 3, 4, 5>);
}

}  // namespace weir::ops
