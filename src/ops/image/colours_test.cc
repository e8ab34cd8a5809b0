#include <gtest/gtest.h>

#include "tests/support/check_op.h"

namespace weir::ops {
namespace {

using testing::check_op;

TEST(RGBToHSV, KnowsTheCircleOfColours) {
  // Red, yellow, green, blue, grey, black and a dark magenta.
  check_op(
      {.op = "RGBToHSV",
       .inputs = {{{1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {0.5, 0.5, 0.5}, {0, 0, 0}, {0.5, 0, 0.5}}},
       .outputs =
           {{{0, 1, 1}, {1.0 / 6, 1, 1}, {1.0 / 3, 1, 1}, {2.0 / 3, 1, 1}, {0, 0, 0.5}, {0, 0, 0}, {5.0 / 6, 1, 0.5}}},
       .gradient = false,
       .bad = {{.inputs = {{{1, 2}}}, .message = "3 channels"}, {.inputs = {1}, .message = "rank"}}});
}

TEST(RGBToHSV, HasAGradientBetweenTheKinks) {
  check_op({.op = "RGBToHSV",
            .inputs = {{{0.9, 0.2, 0.4}, {0.1, 0.8, 0.3}, {0.3, 0.2, 0.7}}},
            .outputs = {{{0.952381, 0.777778, 0.9}, {0.380952, 0.875, 0.8}, {0.7, 0.714286, 0.7}}},
            .tolerance = 1e-3});
}

TEST(HSVToRGB, IsTheWayBack) {
  check_op({.op = "HSVToRGB",
            .inputs = {{{0, 1, 1}, {1.0 / 6, 1, 1}, {0.5, 1, 1}, {0, 0, 0.5}, {2.0 / 3, 0.5, 1}}},
            .outputs = {{{1, 0, 0}, {1, 1, 0}, {0, 1, 1}, {0.5, 0.5, 0.5}, {0.5, 0.5, 1}}},
            .tolerance = 1e-2,
            .bad = {{.inputs = {{{1, 2}}}, .message = "3 channels"}}});
}

TEST(AdjustHue, TurnsTheCircle) {
  const In colours = {{{1, 0, 0}, {0.25, 0.75, 0.5}, {0.5, 0.5, 0.5}}};
  check_op({.op = "AdjustHue",
            .inputs = {{{{1, 0, 0}, {0.25, 0.75, 0.5}, {0.5, 0.5, 0.5}}}, 1.0 / 3},
            .outputs = {{{{0, 1, 0}, {0.5, 0.25, 0.75}, {0.5, 0.5, 0.5}}}},
            .tolerance = 1e-3,
            .bad = {{.inputs = {{{1, 2}}, 0.5}, .message = "rank"},
                    {.inputs = {{{{1, 2}}}, 0.5}, .message = "3 channels"}}});
  check_op({.op = "AdjustHue", .inputs = {{colours.value()}, 0}, .outputs = {colours}, .tolerance = 1e-3});
}

TEST(AdjustSaturation, ScalesTheDistanceFromGrey) {
  check_op({.op = "AdjustSaturation",
            .inputs = {{{{1, 0.5, 0}, {0.5, 0.5, 0.5}}}, 0.5},
            .outputs = {{{{1, 0.75, 0.5}, {0.5, 0.5, 0.5}}}},
            .tolerance = 1e-3});
  check_op({.op = "AdjustSaturation",
            .inputs = {{{{1, 0.5, 0.25}}}, 0},
            .outputs = {{{{1, 1, 1}}}},
            .tolerance = 1e-3,
            .bad = {{.inputs = {{{{1, 2}}}, 0.5}, .message = "3 channels"}}});
}

TEST(AdjustContrastv2, ScalesTheDistanceFromTheMeanOfEachChannel) {
  // Two pictures of 1 x 3 pixels with two channels: means 2 and 20, then 5 and 0.
  const Tensor images = Tensor::from<double>({1, 10, 2, 20, 3, 30, 5, 0, 5, 1, 5, -1}, {2, 1, 3, 2});
  const Tensor adjusted = Tensor::from<double>({0, 0, 2, 20, 4, 40, 5, 0, 5, 2, 5, -2}, {2, 1, 3, 2});
  check_op({.op = "AdjustContrastv2",
            .inputs = {images, 2},
            .outputs = {adjusted},
            .tolerance = 1e-3,
            .bad = {{.inputs = {{{1, 2}}, 2}, .message = "rank"}, {.inputs = {images, {2, 2}}, .message = "rank 0"}}});
}

}  // namespace
}  // namespace weir::ops
