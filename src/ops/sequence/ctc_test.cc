#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir::nn {
namespace {

using testing::check_op;
using testing::expect_error;
using testing::expect_near;
using testing::expect_same;
using testing::scattered;

TEST(CtcLoss, IsTheSumOverAllPaths) {
  // Of "0" in two steps of equal probabilities: 00, 0-, -0, a third of a third each.
  check_op({.op = "CTCLoss",
            .inputs = {testing::zeros({2, 1, 3}), {{0, 0}}, {0}, {2}},
            .outputs = {{1.0986123}, {{{-0.3333333, 0.3333333, 0.}}, {{-0.3333333, 0.3333333, 0.}}}},
            .gradient = false});
}

// check_op would differentiate the second output, too, which is the gradient itself.
TEST(CtcLoss, HasTheGradientOfItsLoss) {
  for (bool merge : {true, false}) {
    Graph g;
    Output x = g.placeholder(float64, {4, 2, 3});
    SparseOutput labels{g.constant({{0, 0}, {0, 1}, {1, 0}}, int64), g.constant({0, 0, 1}, int32),
                        g.constant({2, 2}, int64)};
    Output loss = ctc_loss(labels, x, g.constant({4, 3}, int32), {.ctc_merge_repeated = merge});
    Output total = reduce_sum(loss * g.constant(Tensor(std::vector<double>{1, 2})));
    Output grad = gradients({total}, {x})[0].dense();
    Session session(g);
    const Tensor at = scattered({4, 2, 3});
    const Tensor have = session.run(grad, {{x, at}});
    for (int64_t i = 0; i < at.elements(); ++i) {
      constexpr double kStep = 1e-5;
      double sides[2];
      for (int side : {0, 1}) {
        Tensor moved = at.copy();
        moved.mutable_data<double>()[i] += side ? kStep : -kStep;
        sides[side] = session.run(total, {{x, moved}}).scalar<double>();
      }
      EXPECT_NEAR(have.data<double>()[static_cast<size_t>(i)], (sides[1] - sides[0]) / (2 * kStep), 1e-6) << i;
    }
  }
}

TEST(CtcLoss, RefusesWhatCannotBe) {
  check_op({.op = "CTCLoss",
            .inputs = {testing::zeros({2, 1, 3}), {{0, 0}}, {0}, {2}},
            .outputs = {{1.0986123}, {{{-0.3333333, 0.3333333, 0.}}, {{-0.3333333, 0.3333333, 0.}}}},
            .gradient = false,
            .bad = {{.inputs = {testing::zeros({2, 1, 3}), {{0, 0}}, {0}, {3}}, .message = "sequence_length(0) <= 2"},
                    {.inputs = {testing::zeros({2, 1, 3}), {{0, 0}}, {-1}, {2}},
                     .message = "All labels must be nonnegative integers"},
                    {.inputs = {testing::zeros({2, 1, 3}), {{0, 0}, {0, 1}}, {2, 0}, {2}},
                     .message = "following a null label"},
                    {.inputs = {testing::zeros({2, 1, 3}), {{0, 0}, {0, 1}}, {0, 1}, {1}},
                     .message = "Not enough time for target transition sequence (required: 2, available: 1)"},
                    {.inputs = {testing::zeros({2, 1, 3}), {{5, 0}}, {0}, {2}}, .message = "row 5"},
                    {.inputs = {testing::zeros({2, 3}), {{0, 0}}, {0}, {2}}, .message = "rank"}}});
}

TEST(CtcLoss, LeavesLongLabelsOutWhenTold) {
  Graph g;
  SparseOutput labels{g.constant({{0, 0}, {0, 1}, {1, 0}}, int64), g.constant({0, 1, 1}, int32),
                      g.constant({2, 2}, int64)};
  Output loss = ctc_loss(labels, g.constant(Tensor::zeros(float32, {2, 2, 3})), g.constant({1, 2}, int32),
                         {.ignore_longer_outputs_than_inputs = true});
  expect_near(Session(g).run(loss), Tensor(std::vector<float>{0, 1.0986123f}), 1e-5);
}

TEST(CtcGreedyDecoder, DropsBlanksAndRepetitions) {
  const In logits{{{2., 0., 1.}}, {{3., 0., 1.}}, {{0., 1., 4.}}, {{5., 0., 0.}}, {{0., 6., 0.}}};
  check_op({.op = "CTCGreedyDecoder",
            .inputs = {logits, {5}},
            .attrs = {{"merge_repeated", true}},
            .outputs = {{{0, 0}, {0, 1}, {0, 2}}, {0, 0, 1}, {1, 3}, {{-20.}}}});
  check_op({.op = "CTCGreedyDecoder",
            .inputs = {logits, {2}},
            .outputs = {{{0, 0}, {0, 1}}, {0, 0}, {1, 2}, {{-5.}}},
            .bad = {{.inputs = {logits, {6}}, .message = "sequence_length(0) <= 5"}}});
}

TEST(CtcBeamSearchDecoder, FindsPathsThatGreedyDecodingMisses) {
  // Step by step the blank is likelier, but more paths lead to a single 0.
  const In logits{{{std::log(0.4), std::log(0.1), std::log(0.5)}}, {{std::log(0.4), std::log(0.1), std::log(0.5)}}};
  check_op({.op = "CTCBeamSearchDecoder",
            .inputs = {logits, {2}},
            .attrs = {{"beam_width", 4}, {"top_paths", 2}},
            .outputs = {{{0, 0}},
                        testing::zeros({0, 2}),
                        {0},
                        testing::zeros({0}),
                        {1, 1},
                        {1, 0},
                        {{std::log(0.56), std::log(0.25)}}},
            .bad = {{.inputs = {logits, {2}}, .attrs = {{"top_paths", 5}}, .message = "more paths than the beam"},
                    {.inputs = {logits, {0}}, .message = "Less leaves in the beam search than requested."}}});
}

TEST(GatherTree, FollowsParentsFromTheEnd) {
  // TensorFlow's own example: ids [time, batch, beam].
  const In ids{{{1, 2, 3}}, {{4, 5, 6}}, {{7, 8, 9}}, {{-1, -1, -1}}};
  const In parents{{{0, 0, 0}}, {{0, 1, 1}}, {{2, 1, 2}}, {{-1, -1, -1}}};
  check_op({.op = "GatherTree",
            .inputs = {ids, parents, {3}, 10},
            .outputs = {{{{2, 2, 2}}, {{6, 5, 6}}, {{7, 8, 9}}, {{10, 10, 10}}}},
            .bad = {{.inputs = {ids, {{{0, 0, 0}}, {{0, -1, 1}}, {{2, 1, 2}}, {{-1, -1, -1}}}, {3}, 10},
                     .message = "Saw invalid parent id -1 at (batch, time, beam) == (0, 1, 1)"}}});
  check_op({.op = "GatherTree",
            .inputs = {{{{1}}, {{10}}, {{3}}}, {{{0}}, {{0}}, {{0}}}, {3}, 10},
            .outputs = {{{{1}}, {{10}}, {{10}}}}});
}

}  // namespace
}  // namespace weir::nn
