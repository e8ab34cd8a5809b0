#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

// Runs an update of variables that begin at these values, with these numbers, and gives what the variables hold then.
std::vector<double> apply(const std::string& op, const std::vector<double>& variables, const std::vector<In>& rest,
                          const AttrMap& attrs = {}) {
  const bool resource = op.starts_with("Resource");
  Graph g;
  NodeBuilder node(op);
  std::vector<Variable> made;
  for (double value : variables) {
    made.push_back(g.variable("v", Tensor(std::vector<double>{value}), {.use_resource = resource}));
    node.input(made.back().handle());
  }
  for (const In& input : rest) node.input(input);
  for (const auto& [name, value] : attrs) node.attr(name, value);
  Operation update = node.build();
  Session session(g);
  session.run(g.global_variables_initializer());
  session.run(update);
  std::vector<double> result;
  for (const Variable& v : made) result.push_back(session.run(v.value()).data<double>()[0]);
  return result;
}

const Tensor kGrad(std::vector<double>{0.5});
In number(double x) { return Tensor(x); }

void expect_values(const std::vector<double>& actual, const std::vector<double>& wanted) {
  ASSERT_EQ(actual.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(actual[i], wanted[i], 1e-12);
}

TEST(ApplyAdaMax, FollowsTheLargestGradient) {
  for (const char* op : {"ApplyAdaMax", "ResourceApplyAdaMax"}) {
    expect_values(apply(op, {1, 0.1, 0.2}, {number(0.9), number(0.01), number(0.9), number(0.99), number(1e-8), kGrad}),
                  {1 - 0.01 / 0.1 * (0.14 / (0.5 + 1e-8)), 0.14, 0.5});
  }
}

TEST(ApplySigns, LookWhetherGradientAndMomentumAgree) {
  for (std::string prefix : {"", "Resource"}) {
    expect_values(apply(prefix + "ApplyAddSign", {1, 0.1}, {number(0.1), number(1), number(0.9), number(0.8), kGrad}),
                  {1 - 0.1 * 1.9 * 0.5, 0.18});
    expect_values(apply(prefix + "ApplyPowerSign", {1, -4}, {number(0.1), number(1), number(0.9), number(0.8), kGrad}),
                  {1 - 0.1 * std::exp(-0.9) * 0.5, -3.1});
  }
}

TEST(ApplyAdagradV2, AddsEpsilonToTheRoot) {
  for (std::string prefix : {"", "Resource"}) {
    const double sum = 0.25 + 0.25;
    expect_values(apply(prefix + "ApplyAdagradV2", {1, 0.25}, {number(0.1), number(0.01), kGrad}),
                  {1 - 0.1 * 0.5 / (std::sqrt(sum) + 0.01), sum});
    expect_values(apply(prefix + "SparseApplyAdagradV2", {1, 0.25}, {number(0.1), number(0.01), kGrad, {0}},
                        {{"update_slots", false}}),
                  {1 - 0.1 * 0.5 / (0.5 + 0.01), 0.25});
  }
}

TEST(ApplyKerasMomentum, HasTheRateInside) {
  expect_values(apply("ResourceApplyKerasMomentum", {1, 0.2}, {number(0.1), kGrad, number(0.9)}), {1 + 0.13, 0.13});
  expect_values(apply("ResourceSparseApplyKerasMomentum", {1, 0.2}, {number(0.1), kGrad, {0}, number(0.9)},
                      {{"use_nesterov", true}}),
                {1 + 0.13 * 0.9 - 0.05, 0.13});
}

TEST(ApplyAdamWithAmsgrad, KeepsTheLargestVariance) {
  const double m = 0.1 + 0.4 * 0.1, v = 0.5 + (0.25 - 0.5) * 0.01, rate = 0.1 * std::sqrt(1 - 0.99) / (1 - 0.9);
  expect_values(apply("ResourceApplyAdamWithAmsgrad", {1, 0.1, 0.5, 2},
                      {number(0.9), number(0.99), number(0.1), number(0.9), number(0.99), number(1e-8), kGrad}),
                {1 - m * rate / (std::sqrt(2.0) + 1e-8), m, v, 2});
}

TEST(ResourceCountUpTo, EndsAtItsLimit) {
  Graph g;
  Variable v = g.variable("v", Tensor(int64_t{1}), {.use_resource = true});
  Output count = NodeBuilder("ResourceCountUpTo").input(v.handle()).attr("limit", int64_t{2}).attr("T", int64).output();
  Session session(g);
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(count).scalar<int64_t>(), 1);
  expect_error([&] { session.run(count); }, Code::OutOfRange, "Reached limit of 2");
}

}  // namespace
}  // namespace weir
