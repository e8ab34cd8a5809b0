#include "base/errors.h"
#include "ops/run_control.h"
#include "ops/sparse/sparse.h"
#include "ops/string/hash.h"

// Crosses of features: for every row, all combinations of one value of each column.
namespace weir::ops {
namespace {

struct Counts {
  int sparse, dense;
};

Counts counts_of(int64_t n, const std::vector<DType>& dense_types) {
  return {static_cast<int>(n), static_cast<int>(dense_types.size())};
}

void infer(InferContext& c) {
  const auto [n, dense] = counts_of(c.attr<int64_t>("N"), c.attr<std::vector<DType>>("dense_types"));
  if (c.attr<std::vector<DType>>("sparse_types").size() != static_cast<size_t>(n)) {
    throw invalid_argument("{} sparse_types for N = {}", c.attr<std::vector<DType>>("sparse_types").size(), n);
  }
  for (int i = 0; i < n; ++i) {
    c.require_rank(i, 2);
    c.require_rank(n + i, 1);
    c.require_rank(2 * n + i, 1);
  }
  for (int i = 0; i < dense; ++i) c.require_rank(3 * n + i, 2);
  set_sparse_output(c, 0, kUnknown, 2);
}

// One column: where the values of each row begin.
struct Column {
  int values;  // the input
  bool is_text;
  std::vector<int64_t> begin;
};

std::vector<Column> columns_of(const KernelContext& c, int n, int dense) {
  std::vector<Column> columns;
  int64_t rows = -1;
  const auto same_rows = [&](int64_t more) {
    if (rows >= 0 && rows != more) throw invalid_argument("Expected batch size {}, got {}", rows, more);
    rows = more;
  };
  for (int i = 0; i < n; ++i) {
    if (c.shape(i)[1] != 2 || c.elements(2 * n + i) != 2) {
      throw invalid_argument("Expected D2 of index to be 2 got {} at position {}", c.shape(i)[1], i);
    }
    if (c.elements(n + i) != c.shape(i)[0]) {
      throw invalid_argument("Expected size of values to be {} got {} at position {}", c.shape(i)[0], c.elements(n + i),
                             i);
    }
    const Coordinates at(c, i, 2 * n + i);
    same_rows(at.dims[0]);
    Column column{n + i, c.dtype(n + i) == DType::String, std::vector<int64_t>(static_cast<size_t>(at.dims[0]) + 1)};
    int64_t before = 0;
    for (int64_t j = 0; j < at.count; ++j) {
      if (at.row(j)[0] < before) throw invalid_argument("indices are not in order at position {}", i);
      before = at.row(j)[0];
      ++column.begin[static_cast<size_t>(before) + 1];
    }
    for (size_t row = 1; row < column.begin.size(); ++row) column.begin[row] += column.begin[row - 1];
    columns.push_back(std::move(column));
  }
  for (int i = 0; i < dense; ++i) {
    const int input = 3 * n + i;
    same_rows(c.shape(input)[0]);
    Column column{input, c.dtype(input) == DType::String, {}};
    for (int64_t row = 0; row <= c.shape(input)[0]; ++row) column.begin.push_back(row * c.shape(input)[1]);
    columns.push_back(std::move(column));
  }
  return columns;
}

// Calls visit(place of a value in each column) for all combinations of a row, the last column fastest.
template <class Visit>
void for_each_combination(const std::vector<Column>& columns, int64_t row, const Visit& visit) {
  std::vector<int64_t> at;
  for (const Column& column : columns) {
    if (column.begin[static_cast<size_t>(row)] == column.begin[static_cast<size_t>(row) + 1]) return;
    at.push_back(column.begin[static_cast<size_t>(row)]);
  }
  for (;;) {
    visit(at);
    size_t i = columns.size();
    while (i > 0) {
      --i;
      if (++at[i] < columns[i].begin[static_cast<size_t>(row) + 1]) break;
      at[i] = columns[i].begin[static_cast<size_t>(row)];
      if (i == 0) return;
    }
  }
}

std::string text_of(const KernelContext& c, const Column& column, int64_t i) {
  return column.is_text ? c.input<std::string>(column.values)[i] : std::to_string(c.input<int64_t>(column.values)[i]);
}

// Numbers are hashed as they are; that is how TensorFlow keeps nested crosses stable.
uint64_t hash_of(const KernelContext& c, const Column& column, int64_t i) {
  return column.is_text ? fingerprint64(c.input<std::string>(column.values)[i])
                        : static_cast<uint64_t>(c.input<int64_t>(column.values)[i]);
}

void cpu(KernelContext& c) {
  const auto [n, dense] = counts_of(c.node().attr<int64_t>("N"), c.node().attr<std::vector<DType>>("dense_types"));
  const bool hashed = c.node().attr<bool>("hashed_output");
  const auto buckets = static_cast<uint64_t>(c.node().attr<int64_t>("num_buckets"));
  const auto key = static_cast<uint64_t>(c.node().attr<int64_t>("hash_key"));
  const std::vector<Column> columns = columns_of(c, n, dense);
  if (columns.empty()) throw invalid_argument("there is nothing to cross");
  const auto rows = static_cast<int64_t>(columns[0].begin.size()) - 1;
  std::vector<int64_t> indices, numbers;
  std::vector<std::string> texts;
  int64_t widest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t column = 0;
    for_each_combination(columns, row, [&](const std::vector<int64_t>& at) {
      if (c.control()) c.control()->check();
      indices.insert(indices.end(), {row, column++});
      if (hashed) {
        uint64_t hash = key;
        for (size_t i = 0; i < columns.size(); ++i) hash = joined_fingerprint(hash, hash_of(c, columns[i], at[i]));
        // Without a number of buckets the largest positive one.
        const uint64_t limit = buckets ? buckets : static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
        numbers.push_back(static_cast<int64_t>(hash % limit));
      } else {
        std::string text;
        for (size_t i = 0; i < columns.size(); ++i) text += (i ? "_X_" : "") + text_of(c, columns[i], at[i]);
        texts.push_back(std::move(text));
      }
    });
    widest = std::max(widest, column);
  }
  c.output<int64_t>(2)[0] = rows;
  c.output<int64_t>(2)[1] = widest;
  c.set_output(0, index_tensor(indices, static_cast<int64_t>(indices.size()) / 2, 2));
  c.set_output(1, hashed ? Tensor(numbers) : Tensor(texts));
}

ComputeFn select(const NodeView& node) {
  return node.attr<bool>("hashed_output") == (node.type("out_type") == DType::Int64) ? cpu : nullptr;
}

}  // namespace

OpDef sparse_cross_op() {
  return {
      .name = "SparseCross",
      .inputs = "indices:N*int64; values:sparse_types; shapes:N*int64; dense_inputs:dense_types",
      .outputs = "output_indices:int64; output_values:out_type; output_shape:int64",
      .attrs =
          "N:int>=0; hashed_output:bool; num_buckets:int>=0; hash_key:int; sparse_types:list(type){int64,string}>=0; "
          "dense_types:list(type){int64,string}>=0; out_type:type{int64,string}; internal_type:type{int64,string}",
      .infer = infer,
      .gradient = not_differentiable,
      .cpu = {.select = select},
      .host_only = true};
}

}  // namespace weir::ops
