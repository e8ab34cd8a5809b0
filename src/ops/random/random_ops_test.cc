#include <gtest/gtest.h>

#include <set>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::testing {
namespace {

// Two runs in one session against what TensorFlow 1.15 gave. Normal numbers go through log, sin and cos, whose last
// bits differ.
template <class T>
void expect_runs(Graph& g, const Output& y, const std::vector<T>& first, const std::vector<T>& second) {
  Session session(g);
  for (const std::vector<T>* expected : {&first, &second}) {
    expect_near(session.run(y), Tensor(*expected).reshaped(y.shape()), 1e-6);
  }
}

TEST(RandomUniform, GivesTensorFlowsNumbersForASeed) {
  Graph g;
  expect_runs<float>(g, random_uniform(g, {3}, {.minval = -1, .maxval = 3, .seed = 5}),
                     {0.5532450675964355f, 1.654731273651123f, -0.23235702514648438f},
                     {-0.7890338897705078f, -0.7157812118530273f, 2.2232794761657715f});
  expect_runs<double>(g, random_uniform(g, {2}, {.dtype = float64, .seed = 1}),
                      {0.9122999234504989, 0.4040997484619626}, {0.7443982999578478, 0.526466134468569});
}

TEST(RandomUniform, JoinsTheSeedOfTheGraphWithTheNumberOfNodes) {
  Graph g;
  g.set_random_seed(42);
  expect_runs<float>(g, random_uniform(g, {3}), {0.63789963722229f, 0.16047871112823486f, 0.19355309009552002f},
                     {0.9245555400848389f, 0.629279613494873f, 0.24234211444854736f});
}

TEST(RandomNormal, GivesTensorFlowsNumbersForBothSeeds) {
  Graph g;
  g.set_random_seed(42);
  expect_runs<float>(g, random_normal(g, {3}, {.mean = 1, .stddev = 2, .seed = 5}),
                     {3.160088062286377f, -3.9463858604431152f, -2.15086030960083f},
                     {-2.048816680908203f, -0.6775503158569336f, 3.9485652446746826f});
}

TEST(TruncatedNormal, GivesTensorFlowsNumbersWhereverItStands) {
  Graph g;
  g.set_random_seed(42);
  random_normal(g, {1});
  expect_runs<float>(g, truncated_normal(g, {3}, {.stddev = 0.1}),
                     {0.0007816855213604867f, -0.06753259152173996f, 0.07894721627235413f},
                     {-0.09388769418001175f, 0.15309081971645355f, -0.020594676956534386f});
}

TEST(RandomUniformInt, GivesTensorFlowsNumbers) {
  Graph g;
  expect_runs<int32_t>(g, random_uniform(g, {4}, {.maxval = 100, .dtype = int32, .seed = 9}), {73, 5, 35, 38},
                       {65, 95, 52, 82});
  expect_runs<int64_t>(g, random_uniform(g, {3}, {.minval = -5, .maxval = 1000000000000, .dtype = int64, .seed = 9}),
                       {506295279098, 313190624903, 840467041059}, {749474852740, 68536590122, 992362600650});
  expect_error([&] { random_uniform(g, {4}, {.dtype = int32}); }, Code::InvalidArgument, "needs maxval");
  Output empty = random_uniform(g, {4}, {.minval = 3, .maxval = 3, .dtype = int32});
  expect_error([&] { Session(g).run(empty); }, Code::InvalidArgument, "Need minval < maxval, got 3 >= 3");
}

TEST(RandomShuffle, GivesTensorFlowsOrder) {
  Graph g;
  g.set_random_seed(7);
  expect_runs<int32_t>(g, random_shuffle(range(g, 0, 10), {.seed = 3}), {3, 4, 2, 9, 8, 5, 1, 6, 7, 0},
                       {2, 9, 6, 7, 1, 0, 8, 5, 3, 4});
  expect_runs<int32_t>(g, random_shuffle(reshape(range(g, 0, 6), {3, 2}), {.seed = 3}), {0, 1, 2, 3, 4, 5},
                       {2, 3, 0, 1, 4, 5});
  Output words = random_shuffle(g.constant({"a", "b", "c"}, string));
  auto shuffled = Session(g).run(words);
  EXPECT_EQ(std::set<std::string>(shuffled.data<std::string>().begin(), shuffled.data<std::string>().end()),
            (std::set<std::string>{"a", "b", "c"}));
  expect_same(Session(g).run(random_shuffle(g.constant(5, int32))), Tensor(5));
}

TEST(Multinomial, GivesTensorFlowsSamples) {
  Graph g;
  g.set_random_seed(7);
  Output logits = g.constant({{0.1, 0.2, 0.7}, {0.5, 0.4, -1.0}}, float32);
  expect_runs<int64_t>(g, multinomial(logits, 8, {.seed = 5}), {2, 1, 2, 0, 2, 1, 2, 2, 0, 1, 1, 1, 0, 1, 0, 1},
                       {2, 2, 2, 2, 0, 1, 2, 0, 0, 1, 0, 1, 1, 2, 0, 0});
  EXPECT_EQ(multinomial(logits, 3, {.output_dtype = int32}).dtype(), int32);
  expect_error([&] { multinomial(g.constant({1, 2}, float32), 3); }, Code::InvalidArgument, "rank 2");
  expect_error([&] { multinomial(logits, -1); }, Code::InvalidArgument, "non-negative");
}

TEST(RandomUniform, DiffersBetweenSessionsWithoutASeed) {
  Graph g;
  Output y = random_uniform(g, {4});
  EXPECT_NE(Session(g).run(y).str(), Session(g).run(y).str());
}

TEST(RandomUniform, TakesAShapeThatOnlyTheRunKnows) {
  Graph g;
  Output dims = g.placeholder(int32, {kUnknown}), y = random_normal(g, dims);
  EXPECT_EQ(Session(g).run(y, {{dims, Tensor(std::vector<int>{2, 3})}}).shape().str(), "[2,3]");
  expect_error(
      [&] {
        Session(g).run(y, {{dims, Tensor(std::vector<int>{-2})}});
      },
      Code::InvalidArgument, "negative size -2");
}

}  // namespace
}  // namespace weir::testing
