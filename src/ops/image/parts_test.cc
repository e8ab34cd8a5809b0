#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/image_ops.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::ops {
namespace {

using testing::check_op;
using testing::ramp;
using testing::scattered;

Tensor numbers(std::initializer_list<double> values, const Shape& shape) { return Tensor::from<double>(values, shape); }

TEST(CropAndResize, SamplesTheBoxes) {
  const Tensor image = ramp({1, 3, 3, 1}, 1);  // 1 .. 9
  check_op({.op = "CropAndResize",
            .inputs = {image, {{0, 0, 1, 1}, {0, 0.5, 0.5, 1}, {1, 1, 0, 0}}, {0, 0, 0}, {2, 2}},
            .outputs = {numbers({1, 3, 7, 9, 2, 3, 5, 6, 9, 7, 3, 1}, {3, 2, 2, 1})},
            .gradient = false,
            .bad = {{.inputs = {image, {{0, 0, 1, 1}}, {1}, {2, 2}},
                     .code = Code::OutOfRange,
                     .message = "box_index has values outside"},
                    {.inputs = {image, {{0, 0, 1, 1}}, {0}, {0, 2}}, .message = "crop dimensions must be positive"},
                    {.inputs = {image, {{0, 0, 1}}, {0}, {2, 2}}, .message = "4 columns"}}});
}

TEST(CropAndResize, FillsWhatIsOutside) {
  check_op({.op = "CropAndResize",
            .inputs = {ramp({1, 2, 2, 1}, 1), {{-1, 0, 1, 1}}, {0}, {3, 2}},
            .attrs = {{"extrapolation_value", 7.0f}},
            .outputs = {numbers({7, 7, 1, 2, 3, 4}, {1, 3, 2, 1})},
            .gradient = false});
  check_op({.op = "CropAndResize",
            .inputs = {ramp({1, 2, 2, 1}, 1), {{0.2, 0.2, 0.9, 0.9}}, {0}, {1, 1}},
            .attrs = {{"method", "nearest"}},
            .outputs = {numbers({4}, {1, 1, 1, 1})},
            .gradient = false});
}

TEST(CropAndResizeGradImage, GivesEachPixelItsShare) {
  check_op({.op = "CropAndResizeGradImage",
            .inputs = {numbers({8}, {1, 1, 1, 1}), {{0, 0, 0.5, 1}}, {0}, {1, 2, 2, 1}},
            .outputs = {numbers({3, 3, 1, 1}, {1, 2, 2, 1})},
            .bad = {{.inputs = {numbers({8}, {1, 1, 1, 1}), {{0, 0, 1, 1}}, {2}, {1, 2, 2, 1}},
                     .code = Code::OutOfRange,
                     .message = "outside"},
                    {.inputs = {numbers({8}, {1, 1, 1, 1}), {{0, 0, 1, 1}}, {0}, {1, 2, 2, -1}},
                     .message = "negative size"}}});
}

// How the crop changes when a corner of the box moves by a little.
TEST(CropAndResizeGradBoxes, AgreesWithDifferences) {
  Graph g;
  const Tensor box = Tensor::from<float>({0.13f, 0.22f, 0.83f, 0.71f}, {1, 4});
  Output image = g.constant(testing::converted(scattered({1, 6, 7, 2}), float32));
  Output boxes = g.placeholder(float32, {1, 4}), index = g.constant(Tensor(std::vector<int32_t>{0}));
  Output sum = reduce_sum(image::crop_and_resize(image, boxes, index, {3, 4}));
  Output grad = NodeBuilder("CropAndResizeGradBoxes")
                    .input(ones(g, {1, 3, 4, 2}))
                    .input(image)
                    .input(boxes)
                    .input(index)
                    .output();
  Session session(g);
  const Tensor found = session.run({grad}, {{boxes, box}});
  for (size_t i = 0; i < 4; ++i) {
    auto at = [&](float change) {
      Tensor moved = box.copy();
      moved.mutable_data<float>()[i] += change;
      return session.run({sum}, {{boxes, moved}}).scalar<float>();
    };
    EXPECT_NEAR(found.data<float>()[i], (at(1e-3f) - at(-1e-3f)) / 2e-3f,
                0.02f * std::abs(found.data<float>()[i]) + 0.05f)
        << i;
  }
}

TEST(ExtractGlimpse, CutsAroundAPlace) {
  const Tensor image = ramp({1, 4, 4, 1}, 0);
  check_op({.op = "ExtractGlimpse",
            .inputs = {image, {2, 2}, {{0, 0}}},
            .outputs = {numbers({5, 6, 9, 10}, {1, 2, 2, 1})},
            .bad = {{.inputs = {image, {2}, {{0, 0}}}, .message = "size 2"},
                    {.inputs = {image, {2, -1}, {{0, 0}}}, .message = "negative size"},
                    {.inputs = {image, {2, 2}, {{0, 0}, {1, 1}}}, .message = "batch"}}});
  check_op({.op = "ExtractGlimpse",
            .inputs = {image, {2, 2}, {{0, 3}}},
            .attrs = {{"centered", false}, {"normalized", false}, {"uniform_noise", false}, {"noise", "zero"}},
            .outputs = {numbers({0, 0, 2, 3}, {1, 2, 2, 1})}});
}

TEST(ExtractImagePatches, LaysPatchesInARow) {
  check_op({.op = "ExtractImagePatches",
            .inputs = {ramp({1, 3, 3, 1}, 1)},
            .attrs = {{"ksizes", std::vector<int64_t>{1, 2, 2, 1}},
                      {"strides", std::vector<int64_t>{1, 1, 1, 1}},
                      {"rates", std::vector<int64_t>{1, 1, 1, 1}},
                      {"padding", "VALID"}},
            .outputs = {numbers({1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9}, {1, 2, 2, 4})}});
  check_op({.op = "ExtractImagePatches",
            .inputs = {ramp({1, 2, 3, 2}, 1)},
            .attrs = {{"ksizes", std::vector<int64_t>{1, 2, 2, 1}},
                      {"strides", std::vector<int64_t>{1, 2, 2, 1}},
                      {"rates", std::vector<int64_t>{1, 1, 2, 1}},
                      {"padding", "SAME"}},
            .outputs = {numbers({0, 0, 3, 4, 0, 0, 9, 10, 3, 4, 0, 0, 9, 10, 0, 0}, {1, 1, 2, 8})}});
}

TEST(DrawBoundingBoxes, DrawsTheBorderOnly) {
  const Tensor image = Tensor::zeros(float64, {1, 4, 4, 1});
  check_op({.op = "DrawBoundingBoxes",
            .inputs = {image, {{{0, 0, 0.67, 0.67}, {5, 5, 6, 6}, {0.9, 0.9, 0.1, 0.1}}}},
            .outputs = {numbers({1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0}, {1, 4, 4, 1})},
            .bad = {{.inputs = {testing::zeros({1, 2, 2, 2}), {{{0, 0, 1, 1}}}}, .message = "Channel depth"},
                    {.inputs = {testing::zeros({2, 2, 2, 3}), {{{0, 0, 1, 1}}}}, .message = "batch sizes"}}});
  check_op({.op = "DrawBoundingBoxesV2",
            .inputs = {testing::zeros({1, 1, 2, 1}), {{{0, 0, 1, 0}, {0, 1, 1, 1}}}, {{0.5, 0, 0, 1}, {0.25, 0, 0, 1}}},
            .outputs = {numbers({0.5, 0.25}, {1, 1, 2, 1})}});
}

TEST(ImageProjectiveTransform, MovesPixels) {
  const AttrMap nearest = {{"interpolation", "NEAREST"}};
  check_op({.op = "ImageProjectiveTransform",
            .inputs = {ramp({1, 2, 2, 1}, 1), {{1, 0, 1, 0, 1, 0, 0, 0}}},
            .attrs = nearest,
            .outputs = {numbers({2, 0, 4, 0}, {1, 2, 2, 1})},
            .gradient = false,
            .bad = {{.inputs = {ramp({1, 2, 2, 1}), {{1, 0, 1}}}, .message = "num_images x 8"},
                    {.inputs = {ramp({1, 2, 2, 1}), {{1, 0, 1, 0, 1, 0, 0, 0}}},
                     .attrs = {{"interpolation", "CUBIC"}},
                     .message = "Invalid interpolation"}}});
  check_op({.op = "ImageProjectiveTransformV2",
            .inputs = {ramp({1, 2, 2, 1}, 2, 2), {{1, 0, 0.5, 0, 1, 0, 0, 0}}, {1, 3}},
            .attrs = {{"interpolation", "BILINEAR"}},
            .outputs = {numbers({3, 2, 0}, {1, 1, 3, 1})},
            .gradient = false});
}

}  // namespace
}  // namespace weir::ops
