#include <charconv>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "io/file.h"
#include "ops/array/array_util.h"
#include "ops/lookup/lookup_table.h"
#include "ops/lookup/vocabulary.h"

namespace weir::ops {
namespace {

constexpr int64_t kWholeLine = -2, kLineNumber = -1;

void infer(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
  if (c.attr<std::string>("delimiter").size() != 1) {
    throw invalid_argument("delimiter should be only 1 char");
  }
}

struct Columns {
  int64_t key, value, lines;
  char delimiter;
};

Columns columns_of(const NodeView& node) {
  return {node.attr<int64_t>("key_index"), node.attr<int64_t>("value_index"), node.attr<int64_t>("vocab_size"),
          node.attr<std::string>("delimiter")[0]};
}

template <class T>
T parsed(std::string_view text, std::string_view type, int64_t line) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) {
    throw invalid_argument("Field {} in line {} is not a valid {}.", text, line, type);
  }
  return value;
}

void set(Tensor& to, int64_t i, std::string_view text) {
  switch (to.dtype()) {
    case DType::String:
      to.mutable_data<std::string>()[i] = text;
      break;
    case DType::Int32:
      to.mutable_data<int32_t>()[i] = parsed<int32_t>(text, "int32", i);
      break;
    case DType::Int64:
      to.mutable_data<int64_t>()[i] = parsed<int64_t>(text, "int64", i);
      break;
    case DType::Float32:
      to.mutable_data<float>()[i] = parsed<float>(text, "float", i);
      break;
    case DType::Float64:
      to.mutable_data<double>()[i] = parsed<double>(text, "double", i);
      break;
    default:
      throw invalid_argument("Data type {} not supported.", dtype_name(to.dtype()));
  }
}

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

void check_type(int64_t column, DType dtype) {
  if (column == kWholeLine && dtype != DType::String && !is_integer(dtype)) {
    throw invalid_argument("index -2 (WHOLE_LINE) requires integer or string, got {}", dtype_name(dtype));
  }
  if (column == kLineNumber && dtype != DType::Int64) {
    throw invalid_argument("index -1 (LINE_NUMBER) requires int64, got {}", dtype_name(dtype));
  }
}

void cpu(KernelContext& c) {
  LookupTable& table = c.resource<LookupTable>(0);
  const Columns columns = columns_of(c.node());
  const std::string& file = c.input<std::string>(1)[0];
  if (file.empty()) throw invalid_argument("filename cannot be empty.");
  const LookupTable::Options& types = table.options();
  check_type(columns.key, types.key_type);
  check_type(columns.value, types.value_type);
  const std::string text = io::read_file(file);
  const std::vector<std::string_view> lines = vocabulary_lines(text, columns.lines, file);
  const auto count = static_cast<int64_t>(lines.size());
  Tensor keys(types.key_type, Shape{count}), values(types.value_type, Shape{count});
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view line = lines[static_cast<size_t>(i)];
    std::vector<std::string_view> parts;
    if (columns.key >= 0 || columns.value >= 0) {
      parts = cut(line, columns.delimiter);
      const auto wanted = static_cast<size_t>(std::max(columns.key, columns.value)) + 1;
      if (parts.size() < wanted) {
        throw invalid_argument("Invalid number of columns in {} line {} ({}) : expected at least {} got {}", file, i,
                               line, wanted, parts.size());
      }
    }
    for (const auto& [column, to] : {std::pair<int64_t, Tensor*>{columns.key, &keys}, {columns.value, &values}}) {
      if (column == kLineNumber) {
        to->mutable_data<int64_t>()[i] = i;
      } else {
        set(*to, i, column == kWholeLine ? line : parts[static_cast<size_t>(column)]);
      }
    }
  }
  table.initialize(keys, values);
}

OpDef row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .attrs = "key_index:int>=-2; value_index:int>=-2; vocab_size:int>=-1=-1; delimiter:string='\\t'",
          .flags = flags,
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace

OpDef initialize_table_from_text_file_op() {
  return row("InitializeTableFromTextFile", "table_handle:Ref(string); filename:string", "");
}
OpDef initialize_table_from_text_file_v2_op() {
  return row("InitializeTableFromTextFileV2", "table_handle:resource; filename:string", "stateful");
}

}  // namespace weir::ops
