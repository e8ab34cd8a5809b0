#include <gtest/gtest.h>

#include <limits>

#include "tests/support/check_op.h"
#include "weir/embedding.h"
#include "weir/session.h"

namespace weir::nn {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::expect_same;

// The numbers of these tests are TensorFlow 1.15's for the same seed.
TEST(LogUniformCandidateSampler, DrawsTensorFlowsClasses) {
  Graph g;
  Output labels = g.constant({{1}, {4}, {9}}, int64);
  SamplerOptions options{.num_sampled = 6, .unique = true, .range_max = 50, .seed = 7};
  SampledCandidates distinct = log_uniform_candidate_sampler(labels, options);
  options.unique = false;
  SampledCandidates repeated = log_uniform_candidate_sampler(labels, options);
  Session session(g);
  auto values =
      session.run({distinct.sampled_candidates, distinct.true_expected_count, distinct.sampled_expected_count});
  expect_same(values[0], Tensor(std::vector<int64_t>{29, 0, 5, 25, 10, 2}));
  expect_near(values[1], Tensor::from<float>({0.58134174f, 0.31603065f, 0.17824639f}, {3, 1}), 1e-6);
  expect_near(
      values[2],
      Tensor(std::vector<float>{0.064801522f, 0.78807187f, 0.27382267f, 0.074258588f, 0.16391793f, 0.45548505f}), 1e-6);
  auto other = session.run({repeated.sampled_candidates, repeated.true_expected_count});
  expect_same(other[0], Tensor(std::vector<int64_t>{29, 0, 5, 25, 0, 5}));
  expect_near(other[1], Tensor::from<float>({0.6187433f, 0.27822426f, 0.14544415f}, {3, 1}), 1e-6);
}

TEST(UniformCandidateSampler, DrawsTensorFlowsClasses) {
  Graph g;
  Output labels = g.constant({{1, 2}, {4, 0}}, int64);
  SamplerOptions options{.num_true = 2, .num_sampled = 6, .unique = true, .range_max = 50, .seed = 7};
  SampledCandidates distinct = uniform_candidate_sampler(labels, options);
  options.unique = false;
  options.range_max = 64;
  SampledCandidates power_of_two = uniform_candidate_sampler(labels, options);
  Session session(g);
  expect_same(session.run(distinct.sampled_candidates), Tensor(std::vector<int64_t>{39, 49, 38, 24, 6, 22}));
  expect_same(session.run(power_of_two.sampled_candidates), Tensor(std::vector<int64_t>{7, 13, 32, 58, 60, 36}));
  expect_near(session.run(power_of_two.true_expected_count),
              Tensor::from<float>({0.09375f, 0.09375f, 0.09375f, 0.09375f}, {2, 2}), 1e-7);
  options.unique = true;
  options.range_max = 3;
  expect_error([&] { uniform_candidate_sampler(labels, options); }, Code::InvalidArgument, "cannot be drawn");
}

TEST(AllCandidateSampler, GivesEveryClass) {
  Graph g;
  SampledCandidates all = all_candidate_sampler(g.constant({{1}, {4}}, int64), 1, 3, true);
  auto values = Session(g).run({all.sampled_candidates, all.true_expected_count, all.sampled_expected_count});
  expect_same(values[0], Tensor(std::vector<int64_t>{0, 1, 2}));
  expect_same(values[1], Tensor::from<float>({1, 1}, {2, 1}));
  expect_same(values[2], Tensor(std::vector<float>{1, 1, 1}));
}

TEST(LearnedUnigramCandidateSampler, CountsTrueClassesForTheNextRun) {
  Graph g;
  SamplerOptions options{.num_sampled = 2, .unique = false, .range_max = 4, .seed = 7};
  SampledCandidates learned = learned_unigram_candidate_sampler(g.constant({{3}, {3}}, int64), options);
  Session session(g);
  // 2 samples of a class that was seen once in 4, then 3 times in 6.
  expect_near(session.run(learned.true_expected_count), Tensor::from<float>({0.5f, 0.5f}, {2, 1}), 1e-6);
  expect_near(session.run(learned.true_expected_count), Tensor::from<float>({1, 1}, {2, 1}), 1e-6);
}

TEST(FixedUnigramCandidateSampler, DrawsByTheGivenFrequencies) {
  Graph g;
  Output labels = g.constant({{1}, {2}}, int64);
  SamplerOptions options{.num_sampled = 2, .unique = true, .range_max = 4, .seed = 7};
  SampledCandidates drawn =
      fixed_unigram_candidate_sampler(labels, options, {.unigrams = {3, 1, 0}, .num_reserved_ids = 1});
  Session session(g);
  auto values = session.run({drawn.sampled_candidates, drawn.sampled_expected_count});
  const auto classes = values[0].data<int64_t>();
  EXPECT_EQ(classes[0] + classes[1], 3);  // 1 and 2: the others cannot be
  options.num_sampled = 3;
  Output impossible = fixed_unigram_candidate_sampler(labels, options, {.unigrams = {3, 1, 0}, .num_reserved_ids = 1})
                          .sampled_candidates;
  expect_error([&] { session.run(impossible); }, Code::InvalidArgument, "cannot be drawn");
  expect_error([&] { fixed_unigram_candidate_sampler(labels, options, {}); }, Code::InvalidArgument,
               "Must provide either vocab_file or unigrams.");
}

TEST(ComputeAccidentalHits, FindsSamplesAmongTheTrueClasses) {
  Graph g;
  AccidentalHits hits = compute_accidental_hits(g.constant({{1, 2}, {5, 9}}, int64), g.constant({9, 1, 4}, int64), 2);
  auto values = Session(g).run({hits.indices, hits.ids, hits.weights});
  expect_same(values[0], Tensor(std::vector<int32_t>{0, 1}));
  expect_same(values[1], Tensor(std::vector<int64_t>{1, 0}));
  const float lowest = -std::numeric_limits<float>::max();
  expect_same(values[2], Tensor(std::vector<float>{lowest, lowest}));
}

}  // namespace
}  // namespace weir::nn
