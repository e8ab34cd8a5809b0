#include <charconv>
#include <cstdlib>

#include "base/errors.h"
#include "ops/data/file_dataset.h"

namespace weir::ops {
namespace {

struct CsvFormat {
  Compression compression;
  int64_t buffer_bytes;
  bool header;
  char delimiter;
  bool quotes;
  std::string na_value;
  std::vector<int64_t> columns;  // that are wanted, ascending; empty: all
  Element defaults;              // of no elements: the field must be there
};

// A file byte by byte.
class Characters {
 public:
  Characters(const std::string& path, Compression compression, size_t bytes) : file_(path, compression, bytes) {}
  // -1 at the end.
  int next() { return at_ < end_ || fill() ? static_cast<unsigned char>(chunk_[at_++]) : -1; }
  int peek() { return at_ < end_ || fill() ? static_cast<unsigned char>(chunk_[at_]) : -1; }

 private:
  bool fill() {
    at_ = 0;
    end_ = file_.read(chunk_, sizeof(chunk_));
    return end_ > 0;
  }
  io::BufferedInput file_;
  char chunk_[4096];
  size_t at_ = 0, end_ = 0;
};

template <class T>
Tensor number(const std::string& field, size_t column, std::string_view kind) {
  T value{};
  const char* begin = field.c_str();
  const char* end = begin + field.size();
  while (begin < end && *begin == ' ') ++begin;
  while (end > begin && end[-1] == ' ') --end;
  bool good = begin < end;
  if constexpr (std::is_integral_v<T>) {
    if (good && *begin == '+') ++begin;
    const auto [at, failed] = std::from_chars(begin, end, value);
    good = good && failed == std::errc() && at == end;
  } else {
    char* at = nullptr;
    value = static_cast<T>(std::is_same_v<T, float> ? std::strtof(begin, &at) : std::strtod(begin, &at));
    good = good && at == end;
  }
  if (!good) throw invalid_argument("Field {} in record is not a valid {}: {}", column, kind, field);
  return Tensor(value);
}

class CsvDataset final : public Dataset {
 public:
  CsvDataset(std::vector<std::string> paths, CsvFormat format, ElementSpec spec)
      : Dataset(std::move(spec)), paths_(std::move(paths)), format_(std::move(format)) {}
  const std::vector<std::string>& paths() const { return paths_; }

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    return std::make_unique<FileIterator<CsvDataset, File>>(*this);
  }

 private:
  class File {
   public:
    File(const std::string& path, const CsvDataset& dataset)
        : dataset_(dataset), file_(path, dataset.format_.compression, buffer_bytes(dataset.format_.buffer_bytes)) {
      std::vector<std::string> names;
      if (dataset.format_.header && !read_record(names)) {
        throw invalid_argument("Can't read header of empty file");
      }
    }

    bool next(Element& out) {
      std::vector<std::string> fields;
      const CsvFormat& format = dataset_.format_;
      const std::vector<DType>& types = dataset_.spec().types;
      if (!read_record(fields)) return false;
      const size_t wanted = format.columns.empty() ? types.size() : static_cast<size_t>(format.columns.back()) + 1;
      if (format.columns.empty() ? fields.size() != wanted : fields.size() < wanted) {
        throw invalid_argument("Expect {} fields but have {} in record", wanted, fields.size());
      }
      out.clear();
      for (size_t i = 0; i < types.size(); ++i) {
        const size_t column = format.columns.empty() ? i : static_cast<size_t>(format.columns[i]);
        out.push_back(convert(fields[column], types[i], format.defaults[i], i));
      }
      return true;
    }

   private:
    // A record of fields: lines, but line ends within quotes belong to a field. False at the end of the file.
    bool read_record(std::vector<std::string>& fields) {
      const CsvFormat& format = dataset_.format_;
      while (file_.peek() == '\n' || file_.peek() == '\r') file_.next();  // empty lines
      if (file_.peek() < 0) return false;
      for (;;) {
        std::string& field = fields.emplace_back();
        int c = file_.next();
        if (format.quotes && c == '"') {
          c = quoted(field);
        } else {
          while (c >= 0 && c != format.delimiter && c != '\n' && c != '\r') {
            if (format.quotes && c == '"') {
              throw invalid_argument("Unquoted fields cannot have quotes inside");
            }
            field.push_back(static_cast<char>(c));
            c = file_.next();
          }
        }
        if (c == format.delimiter) continue;
        if (c == '\r' && file_.peek() == '\n') file_.next();
        return true;
      }
    }

    // The rest of a field in quotes, where two quotes stand for one. Gives what follows it.
    int quoted(std::string& field) {
      for (;;) {
        const int c = file_.next();
        if (c < 0) throw invalid_argument("Reached end of file without closing quoted field in record");
        if (c != '"') {
          field.push_back(static_cast<char>(c));
          continue;
        }
        const int after = file_.next();
        if (after == '"') {
          field.push_back('"');
        } else if (after < 0 || after == dataset_.format_.delimiter || after == '\n' || after == '\r') {
          return after;
        } else {
          throw invalid_argument("Quote inside a string has to be escaped by another quote");
        }
      }
    }

    Tensor convert(const std::string& field, DType type, const Tensor& fallback, size_t column) const {
      if (field.empty() || field == dataset_.format_.na_value) {
        if (fallback.elements() != 1) throw invalid_argument("Field {} is required but missing in record!", column);
        return fallback.reshaped(Shape{});
      }
      switch (type) {
        case DType::Int32:
          return number<int32_t>(field, column, "int32");
        case DType::Int64:
          return number<int64_t>(field, column, "int64");
        case DType::Float32:
          return number<float>(field, column, "float");
        case DType::Float64:
          return number<double>(field, column, "double");
        default:
          return Tensor(field);
      }
    }

    const CsvDataset& dataset_;
    Characters file_;
  };

  std::vector<std::string> paths_;
  CsvFormat format_;
};

void cpu(KernelContext& c) {
  CsvFormat format{.compression = io::compression_from_name(c.scalar<std::string>(1)),
                   .buffer_bytes = c.scalar<int64_t>(2),
                   .header = c.scalar<bool>(3),
                   .delimiter = ',',
                   .quotes = c.scalar<bool>(5),
                   .na_value = c.scalar<std::string>(6),
                   .columns = {},
                   .defaults = {}};
  const auto delimiter = c.scalar<std::string>(4);
  if (format.buffer_bytes <= 0) throw invalid_argument("buffer_size should be positive");
  if (delimiter.size() != 1) throw invalid_argument("field_delim should be only 1 char");
  format.delimiter = delimiter[0];
  const auto* columns = c.input<int64_t>(7);
  format.columns.assign(columns, columns + c.elements(7));
  const auto types = static_cast<size_t>(types_of_list(c, "output_types"));
  if (!format.columns.empty() && format.columns.size() != types) {
    throw invalid_argument("select_cols should match output size");
  }
  for (size_t i = 0; i < format.columns.size(); ++i) {
    if (format.columns[i] < 0) throw invalid_argument("select_cols should be non-negative indices");
    if (i > 0 && format.columns[i] <= format.columns[i - 1]) {
      throw invalid_argument("select_cols should be strictly increasing indices");
    }
  }
  for (size_t i = 0; i < types; ++i) {
    format.defaults.push_back(c.input_tensor(8 + static_cast<int>(i)));
    if (format.defaults.back().elements() > 1) {
      throw invalid_argument("There should only be 1 default per field but field {} has {}", i,
                             format.defaults.back().elements());
    }
  }
  set_dataset(c, std::make_shared<const CsvDataset>(paths_input(c, 0), std::move(format), declared_spec(c)));
}

}  // namespace

OpDef csv_dataset_op() {
  return {.name = "CSVDataset",
          .inputs =
              "filenames:string; compression_type:string; buffer_size:int64; header:bool; field_delim:string; "
              "use_quote_delim:bool; na_value:string; select_cols:int64; record_defaults:output_types",
          .outputs = "handle:variant",
          .attrs = "output_types:list(type){float,double,int32,int64,string}>=1; output_shapes:list(shape)>=1",
          .flags = "stateful",
          .host =
              "filenames, compression_type, buffer_size, header, field_delim, use_quote_delim, na_value, select_cols, "
              "record_defaults, handle",
          .infer = infer_files<1, 2, 3, 4, 5, 6>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
