#include <gtest/gtest.h>

#include <cstdio>

#include "io/file.h"
#include "tests/support/check_op.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

Tensor strings(std::vector<std::string> values) { return Tensor(values); }
Tensor ints(std::vector<int64_t> values) { return Tensor(values); }

Output table_of(Graph& g, std::string_view op, DType key, DType value) {
  return NodeBuilder(op).graph(g).attr("key_dtype", key).attr("value_dtype", value).output();
}

Operation with_pairs(std::string_view op, const Output& table, const Tensor& keys, const Tensor& values) {
  return NodeBuilder(op).input(table).input(keys).input(values).build();
}

Output find(const Output& table, const Tensor& keys, const Tensor& default_value) {
  return NodeBuilder("LookupTableFindV2").input(table).input(keys).input(default_value).output();
}

TEST(HashTable, IsFilledOnceAndAskedAfterThat) {
  Graph g;
  Output table = table_of(g, "HashTableV2", string, int64);
  Output ids = find(table, strings({"b", "x", "a"}), Tensor(int64_t{-1}));
  Output size = NodeBuilder("LookupTableSizeV2").input(table).output();
  Operation init = with_pairs("InitializeTableV2", table, strings({"a", "b"}), ints({0, 1}));
  Operation other = with_pairs("InitializeTableV2", table, strings({"a"}), ints({0}));
  Session session(g);
  expect_error([&] { session.run(ids); }, Code::FailedPrecondition, "Table not initialized");
  EXPECT_EQ(session.run(size).scalar<int64_t>(), 0);
  session.run(init);
  session.run(init);
  expect_same(session.run(ids), ints({1, -1, 0}));
  EXPECT_EQ(session.run(size).scalar<int64_t>(), 2);
  expect_error([&] { session.run(other); }, Code::FailedPrecondition, "Table already initialized");
  Operation insert = with_pairs("LookupTableInsertV2", table, strings({"c"}), ints({2}));
  expect_error([&] { session.run(insert); }, Code::Unimplemented, "Insert not supported");
}

TEST(HashTable, RejectsTwoValuesOfOneKey) {
  Graph g;
  Operation init =
      with_pairs("InitializeTableV2", table_of(g, "HashTableV2", string, int64), strings({"a", "a"}), ints({0, 1}));
  expect_error([&] { Session(g).run(init); }, Code::FailedPrecondition, "different value for same key");
}

TEST(HashTable, IsFilledFromColumnsOfAFile) {
  const std::string file = ::testing::TempDir() + "/vocabulary.txt";
  io::write_file(file, "a\t5\nb\t6\n");
  Graph g;
  Output table = table_of(g, "HashTableV2", string, int64);
  auto init = [&](const std::string& name, int64_t value, int64_t size) {
    return NodeBuilder("InitializeTableFromTextFileV2")
        .input(table)
        .input(name)
        .attr("key_index", 0)
        .attr("value_index", value)
        .attr("vocab_size", size)
        .build();
  };
  Session session(g);
  expect_error([&] { session.run(init(file, 2, -1)); }, Code::InvalidArgument, "Invalid number of columns");
  expect_error([&] { session.run(init(file, 0, -1)); }, Code::InvalidArgument, "is not a valid int64");
  expect_error([&] { session.run(init(file, 1, 3)); }, Code::InvalidArgument, "Invalid vocab_size");
  expect_error([&] { session.run(init(file + ".not", 1, -1)); }, Code::NotFound, "vocabulary.txt.not");
  session.run(init(file, 1, -1));
  expect_same(session.run(find(table, strings({"b", "c"}), Tensor(int64_t{-1}))), ints({6, -1}));
  std::remove(file.c_str());
}

TEST(HashTable, RefusesAFileWithAnEmptyLine) {
  const std::string file = ::testing::TempDir() + "/empty_line.txt";
  io::write_file(file, "a\n\nb\n");
  Graph g;
  auto init = [&](const Output& table, int64_t size) {
    return NodeBuilder("InitializeTableFromTextFileV2")
        .input(table)
        .input(file)
        .attr("key_index", -2)
        .attr("value_index", -1)
        .attr("vocab_size", size)
        .build();
  };
  Session session(g);
  const Output whole = table_of(g, "HashTableV2", string, int64), first = table_of(g, "HashTableV2", string, int64);
  expect_error([&] { session.run(init(whole, -1)); }, Code::InvalidArgument, "empty line found at position 3.");
  session.run(init(first, 1));
  expect_same(session.run(find(first, strings({"a", "b"}), Tensor(int64_t{-1}))), ints({0, -1}));
  std::remove(file.c_str());
}

TEST(MutableHashTable, ChangesAndIsExported) {
  Graph g;
  Output table = table_of(g, "MutableHashTableV2", int64, float32);
  Session session(g);
  session.run(with_pairs("LookupTableInsertV2", table, ints({7, 8, 7}), Tensor(std::vector<float>{1, 2, 3})));
  expect_same(session.run(find(table, ints({7, 9}), Tensor(0.5f))), Tensor(std::vector<float>{3, 0.5f}));
  session.run(NodeBuilder("LookupTableRemoveV2").input(table).input(ints({7})).build());
  Operation all = NodeBuilder("LookupTableExportV2").input(table).attr("Tkeys", int64).attr("Tvalues", float32).build();
  expect_same(session.run(all.output(0)), ints({8}));
  expect_same(session.run(all.output(1)), Tensor(std::vector<float>{2}));
  session.run(with_pairs("LookupTableImportV2", table, ints({1}), Tensor(std::vector<float>{4})));
  expect_same(session.run(all.output(0)), ints({1}));
  expect_error(
      [&] {
        with_pairs("LookupTableInsertV2", table, ints({7}), Tensor(std::vector<float>{1, 2}));
      },
      Code::InvalidArgument, "keys for");
  expect_error(
      [&] {
        session.run(with_pairs("LookupTableInsertV2", table, ints({7}), Tensor::from<float>({1, 2}, {1, 2})));
      },
      Code::InvalidArgument, "Expected shape");
  expect_error([&] { session.run(find(table, strings({"a"}), Tensor(0.5f))); }, Code::InvalidArgument,
               "Key must be type int64");
}

TEST(MutableDenseHashTable, SetsTwoKeysApart) {
  Graph g;
  Output table = NodeBuilder("MutableDenseHashTableV2")
                     .input(g.constant(Tensor(int64_t{0})))
                     .input(Tensor(int64_t{-1}))
                     .attr("key_dtype", int64)
                     .attr("value_dtype", float32)
                     .attr("value_shape", Shape{2})
                     .attr("initial_num_buckets", 4)
                     .output();
  Session session(g);
  session.run(with_pairs("LookupTableInsertV2", table, ints({5}), Tensor::from<float>({1, 2}, {1, 2})));
  expect_same(session.run(find(table, ints({5, 6}), Tensor(std::vector<float>{8, 9}))),
              Tensor::from<float>({1, 2, 8, 9}, {2, 2}));
  expect_error(
      [&] {
        session.run(find(table, ints({0}), Tensor(std::vector<float>{8, 9})));
      },
      Code::InvalidArgument, "empty_key");
  Operation all = NodeBuilder("LookupTableExportV2").input(table).attr("Tkeys", int64).attr("Tvalues", float32).build();
  EXPECT_EQ(session.run(all.output(0)).elements(), 4);
}

}  // namespace
}  // namespace weir
