#include <gtest/gtest.h>

#include "tests/support/check_op.h"

namespace weir::testing {
namespace {

using namespace std::string_literals;

TEST(BiasAdd, AddsAlongTheLastDimension) {
  check_op(
      {.op = "BiasAdd", .inputs = {{{1, 2, 3}, {4, 5, 6}}, {10, 20, 30}}, .outputs = {{{11, 22, 33}, {14, 25, 36}}}});
  check_op(
      {.op = "BiasAddV1", .inputs = {{{1, 2, 3}, {4, 5, 6}}, {10, 20, 30}}, .outputs = {{{11, 22, 33}, {14, 25, 36}}}});
  check_op({.op = "BiasAdd", .inputs = {zeros({2, 0, 3, 2}), {1, 2}}, .outputs = {zeros({2, 0, 3, 2})}});
  check_op({.op = "BiasAdd", .inputs = {zeros({3, 0}), zeros({0})}, .outputs = {zeros({3, 0})}});
}

TEST(BiasAdd, AddsAlongTheSecondDimensionInNchw) {
  check_op({.op = "BiasAdd",
            .inputs = {{{{{1, 2}}, {{3, 4}}}}, {10, 20}},
            .attrs = {{"data_format", "NCHW"s}},
            .outputs = {{{{{11, 12}}, {{23, 24}}}}}});
  check_op({.op = "BiasAdd",
            .inputs = {zeros({2, 2, 0}), {1, 2}},
            .attrs = {{"data_format", "NCHW"s}},
            .outputs = {zeros({2, 2, 0})}});
}

TEST(BiasAdd, RejectsABiasOfAnotherSize) {
  check_op({.op = "BiasAdd",
            .inputs = {{{1, 2}}, {1, 2}},
            .outputs = {{{2, 4}}},
            .bad = {{.inputs = {{{1, 2}}, {1, 2, 3}}, .message = "one entry for each channel"},
                    {.inputs = {{{1, 2}}, {{1, 2}}}, .message = "rank 1"},
                    {.inputs = {{1, 2}, {1, 2}}, .message = "at least 2-dim"}}});
}

TEST(BiasAddGrad, SumsOverAllButTheChannels) {
  check_op({.op = "BiasAddGrad", .inputs = {{{1, 2, 3}, {4, 5, 6}}}, .outputs = {{5, 7, 9}}});
  check_op({.op = "BiasAddGrad", .inputs = {zeros({0, 3})}, .outputs = {{0, 0, 0}}});
  check_op({.op = "BiasAddGrad",
            .inputs = {{{{{1, 2}}, {{3, 4}}}, {{{5, 6}}, {{7, 8}}}}},
            .attrs = {{"data_format", "NCHW"s}},
            .outputs = {{14, 22}}});
}

}  // namespace
}  // namespace weir::testing
