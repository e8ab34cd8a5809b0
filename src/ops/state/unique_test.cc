#include <gtest/gtest.h>

#include "tests/support/check_op.h"

namespace weir::testing {
namespace {

TEST(Unique, KeepsTheOrderOfFirstAppearance) {
  check_op({.op = "Unique", .inputs = {{3, 1, 3, 2, 1}}, .outputs = {{3, 1, 2}, {0, 1, 0, 2, 1}}});
  check_op({.op = "Unique", .inputs = {{3, 1, 3}}, .attrs = {{"out_idx", int64}}, .outputs = {{3, 1}, {0, 1, 0}}});
  check_op({.op = "Unique", .inputs = {{"b", "a", "b"}}, .outputs = {{"b", "a"}, {0, 1, 0}}, .types = {string}});
  check_op({.op = "Unique", .inputs = {zeros({0})}, .outputs = {zeros({0}), zeros({0})}});
}

TEST(Unique, RejectsAMatrix) {
  check_op({.op = "Unique",
            .inputs = {{1, 1}},
            .outputs = {{1}, {0, 0}},
            .bad = {{.inputs = {{{1, 2}}}, .message = "rank 1"}}});
}

}  // namespace
}  // namespace weir::testing
