#include <gtest/gtest.h>

#include "tests/support/check_op.h"

namespace weir::testing {
namespace {

using namespace std::string_literals;

TEST(DataFormatDimMap, GivesThePlaceOfADimensionInTheOtherOrder) {
  check_op({.op = "DataFormatDimMap",
            .inputs = {{0, 1, 2, 3, -1, -2, -3, -4}},
            .outputs = {{0, 2, 3, 1, 1, 3, 2, 0}},
            .bad = {{.inputs = {{4}}, .message = "outside"},
                    {.inputs = {{1}}, .attrs = {{"src_format", "12345678"s}}, .message = "length 4 or 5"},
                    {.inputs = {{1}}, .attrs = {{"dst_format", "NHWQ"s}}, .message = "permutation"}}});
  check_op(
      {.op = "DataFormatDimMap", .inputs = {{-4, 3, 0}}, .attrs = {{"dst_format", "HWNC"s}}, .outputs = {{2, 3, 2}}});
}

TEST(DataFormatVecPermute, ReordersSizesAndPairs) {
  check_op({.op = "DataFormatVecPermute",
            .inputs = {{7, 4, 9, 3}},
            .outputs = {{7, 3, 4, 9}},
            .bad = {{.inputs = {{1, 2, 3}}, .message = "rows"}, {.inputs = {1}, .message = "vector or a matrix"}}});
  check_op({.op = "DataFormatVecPermute",
            .inputs = {{{7, 4}, {9, 3}, {4, 5}, {5, 1}}},
            .attrs = {{"src_format", "HWNC"s}, {"dst_format", "NHWC"s}},
            .outputs = {{{4, 5}, {7, 4}, {9, 3}, {5, 1}}}});
  check_op({.op = "DataFormatVecPermute", .inputs = {{4, 9}}, .outputs = {{4, 9}}});
}

}  // namespace
}  // namespace weir::testing
