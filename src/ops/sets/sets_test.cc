#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir::sets {
namespace {

using testing::check_op;
using testing::expect_same;

TEST(DenseToDenseSetOperation, SortsAndCountsElementsOnce) {
  const In a{{9, 9, 5}, {1, 2, 3}}, b{{5, 7}, {2, 8}};
  auto check = [&](const char* operation, const In& indices, const In& values, const In& shape) {
    check_op({.op = "DenseToDenseSetOperation",
              .inputs = {a, b},
              .attrs = {{"set_operation", operation}},
              .outputs = {indices, values, shape}});
  };
  check("intersection", {{0, 0}, {1, 0}}, {5, 2}, {2, 1});
  check("union", {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {1, 3}}, {5, 7, 9, 1, 2, 3, 8}, {2, 4});
  check("a-b", {{0, 0}, {1, 0}, {1, 1}}, {9, 1, 3}, {2, 2});
  check("b-a", {{0, 0}, {1, 0}}, {7, 8}, {2, 1});
  check_op({.op = "DenseToDenseSetOperation",
            .inputs = {a, b},
            .attrs = {{"set_operation", "union"}},
            .outputs = {{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {1, 3}}, {5, 7, 9, 1, 2, 3, 8}, {2, 4}},
            .bad = {{.inputs = {a, b}, .attrs = {{"set_operation", "xor"}}, .message = "Invalid set_operation xor."},
                    {.inputs = {a, {{1}, {2}, {3}}}, .message = "Mismatched group shapes"},
                    {.inputs = {{1, 2}, b}, .message = "rank"}}});
}

TEST(DenseToSparseSetOperation, TakesMissingSetsAsEmpty) {
  check_op({.op = "DenseToSparseSetOperation",
            .inputs = {{{1, 2}, {3, 4}}, {{1, 0}, {1, 1}}, {4, 5}, {2, 2}},
            .attrs = {{"set_operation", "a-b"}},
            .outputs = {{{0, 0}, {0, 1}, {1, 0}}, {1, 2, 3}, {2, 2}},
            .bad = {{.inputs = {{{1, 2}, {3, 4}}, {{1, 1}, {1, 0}}, {4, 5}, {2, 2}}, .message = "out of order"},
                    {.inputs = {{{1, 2}, {3, 4}}, {{2, 0}, {2, 1}}, {4, 5}, {2, 2}}, .message = "out of bounds"}}});
}

TEST(SparseToSparseSetOperation, KeepsOnlySetsWithElements) {
  check_op({.op = "SparseToSparseSetOperation",
            .inputs = {{{0, 0}, {2, 0}, {2, 1}}, {1, 2, 3}, {3, 2}, {{2, 0}}, {3}, {3, 1}},
            .attrs = {{"set_operation", "intersection"}},
            .outputs = {{{2, 0}}, {3}, {3, 1}},
            .bad = {{.inputs = {{{0, 0}, {2, 0}, {2, 1}}, {1, 2, 3}, {3, 2}, {{2, 0}}, {3}, {4, 1}},
                     .message = "Mismatched group shapes"}}});
}

TEST(SetSize, CountsEqualElementsOnce) {
  check_op({.op = "SetSize",
            .inputs = {{{0, 0}, {0, 1}, {2, 0}, {2, 1}}, {4, 4, 5, 6}, {3, 2}},
            .outputs = {{1, 0, 2}},
            .bad = {{.inputs = {{{0, 0}, {0, 1}}, {4}, {3, 2}}, .message = "values at indices"}}});
}

TEST(SetDifference, TurnsASparseFirstSetAround) {
  Graph g;
  nn::SparseOutput a{g.constant({{0, 0}, {0, 1}}, int64), g.constant({1, 2}, int32), g.constant({1, 2}, int64)};
  nn::SparseOutput only_a = set_difference(a, g.constant({{2, 7}}, int32));
  nn::SparseOutput only_b = set_difference(a, g.constant({{2, 7}}, int32), false);
  auto values = Session(g).run({only_a.values, only_b.values, set_size(a)});
  expect_same(values[0], Tensor(std::vector<int32_t>{1}));
  expect_same(values[1], Tensor(std::vector<int32_t>{7}));
  expect_same(values[2], Tensor(std::vector<int32_t>{2}));
}

}  // namespace
}  // namespace weir::sets
