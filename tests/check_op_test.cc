// The checker itself: what is right passes, and each kind of mistake is found.

#include "tests/support/check_op.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::check_op;
using testing::interpret;
using testing::OpCheck;

// The failures that the check reports, joined.
std::string failures_of(const OpCheck& check) {
  ::testing::TestPartResultArray results;
  {
    ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    check_op(check);
  }
  std::string text;
  for (int i = 0; i < results.size(); ++i) text += std::string(results.GetTestPartResult(i).message()) + "\n";
  return text;
}

void expect_failure(const OpCheck& check, const std::string& part) {
  std::string text = failures_of(check);
  EXPECT_NE(text.find(part), std::string::npos) << "reported: " << text;
}

TEST(CheckOp, PassesWhatIsRight) {
  check_op({.op = "Mul", .inputs = {{{1, 2}, {3, 4}}, {5, 6}}, .outputs = {{{5, 12}, {15, 24}}}});
  check_op({.op = "Mul", .inputs = {testing::zeros({0, 3}), 2}, .outputs = {testing::zeros({0, 3})}});
  check_op({.op = "Square", .inputs = {{-1.5, 2}}, .outputs = {{2.25, 4}}});
  check_op({.op = "Exp",
            .inputs = {testing::scattered({7})},
            .reference =
                [](const testing::Tensors& in) {
                  Tensor y = in[0].copy();
                  for (int64_t i = 0; i < y.elements(); ++i)
                    y.mutable_data<double>()[i] = std::exp(y.data<double>()[i]);
                  return testing::Tensors{y};
                },
            .types = testing::kFloatingTypes});
  check_op({.op = "RandomUniform",
            .inputs = {{0, 2}},
            .attrs = {{"dtype", float32}, {"seed", 1}},
            .outputs = {testing::zeros({0, 2})}});
}

TEST(CheckOp, FindsWrongValuesTypesAndShapes) {
  expect_failure({.op = "Mul", .inputs = {{1, 2}, 3}, .outputs = {{3, 7}}}, "element 1 is");
  expect_failure({.op = "Mul", .inputs = {{1, 2}, 3}, .outputs = {{{3, 6}}}}, "[1,2]");
  expect_failure({.op = "Mul", .inputs = {{1, 2}, 3}, .outputs = {{3, 6}, {3, 6}}}, "2 outputs are expected");
  expect_failure({.op = "Mul", .inputs = {{1, 2}, 3}, .outputs = {{3, 6}}, .types = {string}}, "no kernel for string");
  expect_failure({.op = "NoSuchThing"}, "there is no operation NoSuchThing");
}

TEST(CheckOp, FindsGradientsThatDisagreeWithTheSlope) {
  // At its kink the slope of Relu to both sides is a half; the rule says 0.
  expect_failure({.op = "Relu", .inputs = {{0.0}}, .outputs = {{0.0}}}, "gradient in double");
  check_op({.op = "Relu", .inputs = {{0.0}}, .outputs = {{0.0}}, .gradient = false});
}

TEST(CheckOp, ExpectsBadInputToBeRefused) {
  OpCheck check{.op = "MatMul", .inputs = {{{1, 2}}, {{3}, {4}}}, .outputs = {{{11}}}};
  check.bad = {{.inputs = {{{1, 2}}, {{3, 4, 5}}}, .message = ""}};
  check_op(check);
  check.bad = {{.inputs = {{{1, 2}}, {{3}, {4}}}, .message = ""}};
  expect_failure(check, "no error came");
  check.bad = {{.inputs = {{{1, 2}}, {{3, 4, 5}}}, .code = Code::NotFound}};
  expect_failure(check, "NotFound");
  check.bad = {{.inputs = {{{1, 2}}, {{3, 4, 5}}}, .message = "pigs fly"}};
  expect_failure(check, "pigs fly");
}

TEST(Interpret, NamesThePlaceholderThatIsNotFed) {
  Graph g;
  Output x = g.placeholder(float32, {}, "x");
  testing::expect_error([&] { interpret({x}); }, Code::InvalidArgument, "Placeholder 'x'");
}

}  // namespace
}  // namespace weir
