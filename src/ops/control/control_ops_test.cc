#include <gtest/gtest.h>

#include <limits>

#include "ops/control/py_func.h"
#include "tests/support/check_op.h"
#include "weir/gradients.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

std::string printed(const In& value, int64_t summarize) {
  Graph g;
  Output x = print(g.constant(1, float32), {value}, {.summarize = summarize});
  ::testing::internal::CaptureStderr();
  Session(g).run(x);
  return ::testing::internal::GetCapturedStderr();
}

TEST(Print, ShowsValuesAsTensorFlowDoes) {
  // Recorded with TensorFlow 1.15.
  EXPECT_EQ(printed(1.5f, 3), "[1.5]\n");
  EXPECT_EQ(printed({1., 2., 3., 4.}, 3), "[1 2 3...]\n");
  EXPECT_EQ(printed({1., 2., 3., 4.}, -1), "[1 2 3 4]\n");
  EXPECT_EQ(printed({1., 2., 3., 4.}, 0), "[...]\n");
  EXPECT_EQ(printed({{1., 2.}, {3., 4.}}, 3), "[[1 2][3...]...]\n");
  EXPECT_EQ(printed({{1., 2.}, {3., 4.}, {5., 6.}}, 2), "[[1 2]...]\n");
  EXPECT_EQ(printed(ramp({2, 3, 4}, 0), 10), "[[[0 1 2 3][4 5 6 7][8 9...]]...]\n");
  EXPECT_EQ(printed(ramp({2, 3, 4}, 0), 3), "[[[0 1 2...]]...]\n");
  EXPECT_EQ(printed({"ab", "c d"}, 3), "[ab c d]\n");
  EXPECT_EQ(printed({true, false}, 3), "[1 0]\n");
  EXPECT_EQ(printed({0.1, 1e10, 1e-10, kNan, kInf, 123456789.0}, -1), "[0.1 1e+10 1e-10 nan inf 123456792]\n");
  EXPECT_EQ(printed(Tensor(std::vector<double>{0.1, 1 / 3.}), 3), "[0.1 0.33333333333333331]\n");
  EXPECT_EQ(printed(Tensor(std::vector<Half>{Half(0.1f), Half(2.f)}), 3), "[0.0999755859 2]\n");
  EXPECT_EQ(printed(Tensor(std::vector<std::complex<float>>{{1, 2}}), 3), "[?]\n");
  EXPECT_EQ(printed(zeros({0, 3}), 3), "[]\n");
}

TEST(Print, PassesItsInputOnAndStopsAfterTheFirst) {
  Graph g;
  Output x = g.placeholder(float32, {2});
  Output y = print(x, {x, "and", 7}, {.message = "x is ", .first_n = 2});
  Session session(g);
  Tensor value(std::vector<float>{1, 2});
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) expect_same(session.run(y, {{x, value}}), value);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "x is [1 2][and][7]\nx is [1 2][and][7]\n");
  EXPECT_FALSE(gradients({y}, {x})[0].none());
}

TEST(Assert, FailsWithItsData) {
  Graph g;
  Output ok = g.placeholder(boolean, Shape{});
  Operation check = assert_true(ok, {"x is", g.constant({1, 2, 3, 4}, int32)});
  EXPECT_EQ(check.name(), "Assert/Assert");
  Session session(g);
  session.run(check, {{ok, Tensor(true)}});
  expect_error(
      [&] {
        session.run(check, {{ok, Tensor(false)}});
      },
      Code::InvalidArgument, "assertion failed: [x is] [1 2 3...]");
}

TEST(CheckNumerics, RefusesWhatIsNotFinite) {
  check_op({.op = "CheckNumerics",
            .inputs = {ramp({2, 3})},
            .attrs = {{"message", std::string("here")}},
            .outputs = {ramp({2, 3})},
            .bad = {{.inputs = {{1., kNan}}, .message = "here : Tensor had NaN values"},
                    {.inputs = {{1., -kInf}}, .message = "here : Tensor had Inf values"},
                    {.inputs = {{kInf, kNan}}, .message = "here : Tensor had Inf and NaN values"}}});
}

TEST(CheckNumerics, ChecksItsGradientToo) {
  Graph g;
  Output x = g.placeholder(float32, {2});
  Output grad = gradients({sqrt(check_numerics(x, "x"))}, {x})[0].dense();
  expect_error(
      [&] {
        Session(g).run(grad, {{x, Tensor(std::vector<float>{0, 1})}});
      },
      Code::InvalidArgument, "detected in gradient. x : Tensor had Inf values");
}

Output python_function(const Output& x) {
  return NodeBuilder("PyFunc")
      .input(InList{x})
      .attr("token", std::string("f"))
      .attr("Tout", std::vector{float32})
      .output();
}

TEST(PyFunc, AsksTheLanguageThatTheProgramIsIn) {
  Graph g;
  Output y = python_function(g.constant({1, 2}, float32));
  EXPECT_FALSE(y.shape().has_rank());
  expect_error([&] { Session(g).run(y); }, Code::Unimplemented, "can only be called in Python");
  ops::set_python_caller(
      [](std::string_view token, std::vector<Tensor> inputs, const std::vector<DType>& types, const std::stop_token*) {
        EXPECT_EQ(token, "f");
        EXPECT_EQ(types, std::vector{float32});
        return inputs;
      });
  expect_same(Session(g).run(y + 1.f), Tensor::from<float>({2, 3}, {2}));
  ops::set_python_caller(nullptr);
}

TEST(PyFunc, HasNoGradient) {
  Graph g;
  Output x = g.constant({1, 2}, float32);
  EXPECT_TRUE(gradients({python_function(x)}, {x})[0].none());
}

}  // namespace
}  // namespace weir::testing
