#include <algorithm>
#include <mutex>
#include <optional>

#include "base/errors.h"
#include "base/parse_number.h"
#include "graph/infer_context.h"
#include "io/csv.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

constexpr int64_t kBytesOfBlock = 1 << 16;  // less is not worth a thread

void infer(InferContext& c) {
  for (int i = 1; i < c.inputs(); ++i) {
    const Shape& shape = c.input(i);
    if (shape.rank() > 1 || (shape.is_known() && shape.elements() > 1)) {
      c.fail("Shape of a default must be a length-0 or length-1 vector, or a scalar.");
    }
  }
  for (int i = 0; i < c.outputs(); ++i) c.set_output(i, c.input(0));
}

struct State {
  char delimiter;
  bool quotes;
  std::string na_value;
  std::vector<int64_t> columns;  // that are wanted, ascending; none: all
};

State prepare(PrepareContext& c) {
  const auto& delimiter = c.attr<std::string>("field_delim");
  if (delimiter.size() != 1) throw invalid_argument("field_delim should be only 1 char");
  const auto& columns = c.attr<std::vector<int64_t>>("select_cols");
  if (!columns.empty() && columns.size() != c.attr<std::vector<DType>>("OUT_TYPE").size()) {
    throw invalid_argument("select_cols should match output size");
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] < 0) throw invalid_argument("select_cols should be non-negative indices");
    if (i > 0 && columns[i - 1] >= columns[i])
      throw invalid_argument("select_cols should be strictly increasing indices");
  }
  return {delimiter[0], c.attr<bool>("use_quote_delim"), c.attr<std::string>("na_value"), columns};
}

// A column: where its values go, and what stands for a field that is empty.
struct Column {
  DType dtype;
  void* out;
  const void* default_value;  // null: the field is required
};

template <class T>
void put_number(const Column& column, int64_t record, int64_t field, std::string_view text) {
  T& out = static_cast<T*>(column.out)[record];
  if (text.data() == nullptr) {
    out = *static_cast<const T*>(column.default_value);
  } else if (!parse_number(text, out)) {
    throw invalid_argument("Field {} in record {} is not a valid {}: {}", field, record, dtype_name(column.dtype),
                           text);
  }
}

// No text: the default.
void put(const Column& column, int64_t record, int64_t field, std::string_view text) {
  switch (column.dtype) {
    case DType::Float32:
      return put_number<float>(column, record, field, text);
    case DType::Float64:
      return put_number<double>(column, record, field, text);
    case DType::Int32:
      return put_number<int32_t>(column, record, field, text);
    case DType::Int64:
      return put_number<int64_t>(column, record, field, text);
    default: {
      std::string& out = static_cast<std::string*>(column.out)[record];
      if (text.data() == nullptr) {
        out = *static_cast<const std::string*>(column.default_value);
      } else {
        out.assign(text);
      }
    }
  }
}

// Cuts one record and puts its fields into the columns.
void decode(io::CsvReader& reader, const State& state, const std::vector<Column>& columns, const std::string& text,
            int64_t record) {
  reader.begin(text);
  size_t found = 0;
  std::string_view field;
  for (int64_t at = 0; reader.next(field); ++at) {
    if (!state.columns.empty() && state.columns[found] != at) continue;
    if (found < columns.size()) {
      const Column& column = columns[found];
      if (field.empty() || field == state.na_value) {
        if (!column.default_value) {
          throw invalid_argument("Field {} is required but missing in record {}!", found, record);
        }
        field = {};
      }
      put(column, record, static_cast<int64_t>(found), field);
    }
    if (++found == state.columns.size()) break;  // nobody wants the rest, whatever it is
  }
  if (found != columns.size()) {
    throw invalid_argument("Expect {} fields but have {} in record {}", columns.size(), found, record);
  }
}

void cpu(KernelContext& c) {
  const auto& state = c.state<State>();
  std::vector<Column> columns;
  for (int i = 0; i < c.outputs(); ++i) {
    if (c.elements(i + 1) > 1) {
      throw invalid_argument("There should only be 1 default per field but field {} has {}", i, c.elements(i + 1));
    }
    columns.push_back({c.dtype(i + 1), c.raw_output(i), c.elements(i + 1) == 1 ? c.raw_input(i + 1) : nullptr});
  }
  const int64_t n = c.elements(0);
  const auto* records = c.input<std::string>(0);
  int64_t bytes = 1;
  for (int64_t i = 0; i < n; ++i) bytes += static_cast<int64_t>(records[i].size());
  const int64_t grain =
      std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(n) * kBytesOfBlock / static_cast<double>(bytes)));
  std::mutex mutex;
  std::optional<std::pair<int64_t, Error>> failure;  // of the first record that has one, whichever thread finds it
  c.pool().parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    io::CsvReader reader(state.delimiter, state.quotes);
    int64_t record = begin;
    try {
      for (; record < end; ++record) decode(reader, state, columns, records[record], record);
    } catch (const Error& e) {
      std::lock_guard lock(mutex);
      if (!failure || record < failure->first) failure.emplace(record, e);
    }
  });
  if (failure) throw failure->second;
}

}  // namespace

OpDef decode_csv_op() {
  return {.name = "DecodeCSV",
          .inputs = "records:string; record_defaults:OUT_TYPE",
          .outputs = "output:OUT_TYPE",
          .attrs =
              "OUT_TYPE:list(type){float,double,int32,int64,string}>=1; field_delim:string=','; "
              "use_quote_delim:bool=True; na_value:string=''; select_cols:list(int)=[]",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops
