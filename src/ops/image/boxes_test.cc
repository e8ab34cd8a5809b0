#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/image.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::ops {
namespace {

using testing::check_op;

// Two boxes on each other, one apart from them, and one without an area.
const In kBoxes = {{0, 0, 1, 1}, {0, 0.1, 1, 1.1}, {0, 10, 1, 11}, {5, 5, 5, 5}};
const In kScores = {0.9, 0.75, 0.6, 0.95};

TEST(NonMaxSuppression, KeepsTheBestOfBoxesThatOverlap) {
  check_op({.op = "NonMaxSuppression",
            .inputs = {kBoxes, kScores, 3},
            .outputs = {{3, 0, 2}},
            .bad = {{.inputs = {kBoxes, {0.9}, 3}, .message = "scores has incompatible shape"},
                    {.inputs = {kBoxes, kScores, 3}, .attrs = {{"iou_threshold", 1.5f}}, .message = "[0, 1]"},
                    {.inputs = {{{0, 0, 1}}, {0.9}, 3}, .message = "4 columns"}}});
  check_op({.op = "NonMaxSuppressionV2", .inputs = {kBoxes, kScores, 10, 0.9}, .outputs = {{3, 0, 1, 2}}});
  check_op({.op = "NonMaxSuppressionV3", .inputs = {kBoxes, kScores, 10, 0.9, 0.7}, .outputs = {{3, 0, 1}}});
  check_op({.op = "NonMaxSuppressionV3", .inputs = {kBoxes, kScores, 0, 0.9, 0.7}, .outputs = {Tensor(int32, {0})}});
}

TEST(BipartiteMatch, MatchesTheNearestPairsFirst) {
  const In distances = {{0.5, 0.1, 0.8}, {0.3, 0.2, 0.15}};
  check_op({.op = "BipartiteMatch",
            .inputs = {distances, {-1}},
            .outputs = {{1, 2}, {-1, 0, 1}},
            .bad = {{.inputs = {distances, {3}}, .message = "at least 3 rows"},
                    {.inputs = {distances, {1, 2}}, .message = "one element"},
                    {.inputs = {{1.0}, {1}}, .message = "rank 2"}}});
  check_op({.op = "BipartiteMatch", .inputs = {distances, {1}}, .outputs = {{1, -1}, {-1, 0, -1}}});
  check_op({.op = "BipartiteMatch", .inputs = {distances, {2}}, .attrs = {{"top_k", 1}}, .outputs = {{1, -1}, {-1, 0, -1}}});
}

TEST(NonMaxSuppressionV4, FillsUpAndCounts) {
  check_op({.op = "NonMaxSuppressionV4",
            .inputs = {kBoxes, kScores, 5, 0.5, 0.0},
            .attrs = {{"pad_to_max_output_size", true}},
            .outputs = {{3, 0, 2, 0, 0}, 3}});
}

TEST(NonMaxSuppressionV5, LowersTheScoresOfWhatOverlaps) {
  const auto found = [] {
    Graph g;
    Output boxes = g.constant({{0, 0, 1, 1}, {0, 0.5, 1, 1.5}}, float32), scores = g.constant({0.9, 0.8}, float32);
    Operation node = NodeBuilder("NonMaxSuppressionV5")
                         .input(boxes)
                         .input(scores)
                         .input(2)
                         .input(g.constant(0.5, float32))
                         .input(g.constant(0.0, float32))
                         .input(g.constant(0.5, float32))
                         .build();
    Session session(g);
    return session.run({node.output(0), node.output(1), node.output(2)});
  }();
  EXPECT_EQ(found[2].scalar<int32_t>(), 2);
  EXPECT_EQ(found[0].data<int32_t>()[1], 1);
  // A third in common: exp(-0.5 / 0.5 / 9).
  EXPECT_NEAR(found[1].data<float>()[1], 0.8 * std::exp(-1.0 / 9), 1e-5);
}

TEST(NonMaxSuppressionWithOverlaps, IsToldWhatOverlaps) {
  check_op({.op = "NonMaxSuppressionWithOverlaps",
            .inputs = {{{1, 0.6, 0}, {0.6, 1, 0.2}, {0, 0.2, 1}}, {0.5, 0.7, 0.6}, 3, 0.5, 0.0},
            .outputs = {{1, 2}},
            .bad = {{.inputs = {{{1, 0}}, {0.5}, 3, 0.5, 0.0}, .message = "square"}}});
}

TEST(CombinedNonMaxSuppression, TakesTheBestOfAllClasses) {
  // One image, three boxes that all classes share, two classes.
  const Tensor boxes = Tensor::from<double>({0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 2, 1, 3}, {1, 3, 1, 4});
  const Tensor scores = Tensor::from<double>({0.9, 0.1, 0.8, 0.7, 0.3, 0.6}, {1, 3, 2});
  check_op({.op = "CombinedNonMaxSuppression",
            .inputs = {boxes, scores, 2, 4, 0.5, 0.2},
            .attrs = {{"clip_boxes", false}},
            .outputs = {Tensor::from<double>({0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 2, 1, 3, 0, 2, 1, 3}, {1, 4, 4}),
                        {{0.9, 0.7, 0.6, 0.3}},
                        {{0, 1, 1, 0}},
                        {4}},
            .bad = {{.inputs = {boxes, scores, 2, 0, 0.5, 0.2}, .message = "max_total_size must be > 0"},
                    {.inputs = {boxes, scores, 2, 4, 1.5, 0.2}, .message = "[0, 1]"}}});
}

TEST(SampleDistortedBoundingBox, GivesPartsOfThePicture) {
  Graph g;
  Output size = g.constant({200, 300, 3}, int32), boxes = g.constant({{{0.1, 0.2, 0.6, 0.7}}}, float32);
  const image::SampledBox sampled = image::sample_distorted_bounding_box(
      size, boxes, {.seed = 7, .seed2 = 3, .min_object_covered = 0.4f, .area_range = {0.2f, 0.8f}});
  Session session(g);
  Tensor first;
  for (int run = 0; run < 50; ++run) {
    const auto found = session.run({sampled.begin, sampled.size, sampled.box});
    const auto begin = found[0].data<int32_t>(), extent = found[1].data<int32_t>();
    EXPECT_GE(begin[0], 0);
    EXPECT_GE(begin[1], 0);
    EXPECT_LE(begin[0] + extent[0], 200);
    EXPECT_LE(begin[1] + extent[1], 300);
    const double part = extent[0] * extent[1] / 60000.0, aspect = double(extent[1]) / extent[0];
    EXPECT_TRUE(part > 0.19 && part < 0.81) << part;
    EXPECT_TRUE(aspect > 0.73 && aspect < 1.36) << aspect;
    EXPECT_FLOAT_EQ(found[2].data<float>()[0], static_cast<float>(begin[0]) / 200);
    if (run == 0) first = found[0];
  }
  Session again(g);
  testing::expect_same(again.run(sampled.begin), first);
}

TEST(SampleDistortedBoundingBox, RefusesWhatIsNoBox) {
  auto run = [](const In& boxes, bool use_image) {
    Graph g;
    Output size = g.constant({200, 300, 3}, int32);
    const auto sampled =
        image::sample_distorted_bounding_box(size, boxes, {.seed = 1, .use_image_if_no_bounding_boxes = use_image});
    Session(g).run({sampled.begin});
  };
  testing::expect_error(
      [&] {
        run(Tensor::from<float>({0, 0, 1, 1.5f}, {1, 1, 4}), true);
      },
      Code::InvalidArgument, "must be in [0.0, 1.0]");
  testing::expect_error(
      [&] {
        run(Tensor(float32, {1, 0, 4}), false);
      },
      Code::InvalidArgument, "No bounding boxes provided");
  run(Tensor(float32, {1, 0, 4}), true);
}

TEST(RandomCrop, TakesAPieceFromWithin) {
  Graph g;
  Output image = g.constant(testing::converted(testing::ramp({5, 6, 1}, 0), int32));
  Output crop = NodeBuilder("RandomCrop")
                    .input(image)
                    .input(Tensor(std::vector<int64_t>{2, 3}))
                    .attr("seed", int64_t{3})
                    .output();
  Session session(g);
  for (int run = 0; run < 20; ++run) {
    const Tensor piece = session.run({crop});
    ASSERT_EQ(piece.shape(), (Shape{2, 3, 1}));
    EXPECT_EQ(piece.data<int32_t>()[3], piece.data<int32_t>()[0] + 6);
    EXPECT_EQ(piece.data<int32_t>()[2], piece.data<int32_t>()[0] + 2);
  }
  testing::expect_error(
      [&] {
        Session(g).run(NodeBuilder("RandomCrop").input(image).input(Tensor(std::vector<int64_t>{6, 3})).output());
      },
      Code::FailedPrecondition, "height must be >= target_height");
}

}  // namespace
}  // namespace weir::ops
