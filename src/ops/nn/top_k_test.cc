#include <gtest/gtest.h>

#include <limits>

#include "tests/support/check_op.h"

namespace weir::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

TEST(TopK, GivesTheLargestFirstAndTheLowerIndexOfEquals) {
  check_op({.op = "TopKV2",
            .inputs = {{{1, 3, 3, 2}, {4, 1, 4, 4}}, 2},
            .outputs = {{{3, 3}, {4, 4}}, {{1, 2}, {0, 2}}},
            .gradient = false});
  check_op({.op = "TopK",
            .inputs = {{{1, 3, 3, 2}, {4, 1, 4, 4}}},
            .attrs = {{"k", int64_t{2}}},
            .outputs = {{{3, 3}, {4, 4}}, {{1, 2}, {0, 2}}},
            .gradient = false});
  check_op({.op = "TopKV2", .inputs = {{1, 2, 3}, 0}, .outputs = {zeros({0}), zeros({0})}, .gradient = false});
  check_op({.op = "TopKV2",
            .inputs = {{{1, 5, 3, 2}, {4, 1, 7, 6}}, 3},
            .outputs = {{{5, 3, 2}, {7, 6, 4}}, {{1, 2, 3}, {2, 3, 0}}},
            .gradient_inputs = {0}});
}

TEST(TopK, PutsNanLast) {
  check_op({.op = "TopKV2",
            .inputs = {{1, kNan, 3}, 3},
            .outputs = {{3, 1, kNan}, {2, 0, 1}},
            .types = kFloatingTypes,
            .gradient = false});
}

TEST(TopK, RejectsMoreThanThereAre) {
  check_op({.op = "TopKV2",
            .inputs = {{1, 2}, 1},
            .outputs = {{2}, {1}},
            .gradient = false,
            .bad = {{.inputs = {{1, 2}, 3}, .message = "k = 3"},
                    {.inputs = {{1, 2}, -1}, .message = "Need k >= 0"},
                    {.inputs = {1, 1}, .message = "at least 1-dim"}}});
}

// Values of TensorFlow: ties count, rows that are not finite and targets out of range never do.
TEST(InTopK, AgreesWithTensorFlow) {
  const In predictions = {{.1, .2, .3}, {.3, .3, .1}, {1., kInf, 0.}, {kNan, 1., 2.}, {1., 2., 3.}};
  const In targets = {2, 1, 0, 1, -1};
  check_op({.op = "InTopK",
            .inputs = {predictions, targets},
            .attrs = {{"k", int64_t{1}}},
            .outputs = {{true, true, false, false, false}}});
  check_op({.op = "InTopKV2", .inputs = {predictions, targets, 5}, .outputs = {{true, true, false, false, false}}});
  check_op({.op = "InTopKV2",
            .inputs = {predictions, targets, 0},
            .outputs = {{false, false, false, false, false}},
            .bad = {{.inputs = {{{1, 2}}, {0, 1}, 1}, .message = "must match length of targets"}}});
}

TEST(NthElement, FindsTheElementInEachRow) {
  check_op({.op = "NthElement",
            .inputs = {{{4, 1, 3, 2}, {1, 5, 4, 6}}, 1},
            .outputs = {{2, 4}},
            .bad = {{.inputs = {{1, 2}, -1}, .message = "non-negative"},
                    {.inputs = {{1, 2}, 2}, .message = "last dimension > n = 2"},
                    {.inputs = {1, 0}, .message = "at least rank 1"}}});
  check_op({.op = "NthElement", .inputs = {{4, 1, 3, 2}, 0}, .attrs = {{"reverse", true}}, .outputs = {4}});
}

}  // namespace
}  // namespace weir::testing
