#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/random/generator.h"
#include "ops/random/word_stream.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

// What the attributes say.
struct Limits {
  float aspect_low, aspect_high, area_low, area_high;
  int64_t attempts;
  bool use_image;
};

Limits limits_of(const AttrMap& attrs) {
  const auto& aspects = attrs.get<std::vector<float>>("aspect_ratio_range");
  const auto& areas = attrs.get<std::vector<float>>("area_range");
  if (aspects.size() != 2) throw invalid_argument("Aspect ratio range field must specify 2 dimensions");
  if (areas.size() != 2) throw invalid_argument("Area range field must specify 2 dimensions");
  if (!(aspects[0] > 0 && aspects[1] > 0)) {
    throw invalid_argument("Aspect ratio range must be non-negative: [{}, {}]", aspects[0], aspects[1]);
  }
  if (!(areas[0] > 0 && areas[1] > 0)) {
    throw invalid_argument("Area range must be non-negative: [{}, {}]", areas[0], areas[1]);
  }
  if (!(areas[0] <= 1 && areas[1] <= 1)) {
    throw invalid_argument("Area range must be less then or equal to 1.0: [{}, {}]", areas[0], areas[1]);
  }
  const auto attempts = attrs.get<int64_t>("max_attempts");
  if (attempts <= 0) throw invalid_argument("Max attempts must be non-negative: {}", attempts);
  return {aspects[0], aspects[1], areas[0], areas[1], attempts, attrs.get<bool>("use_image_if_no_bounding_boxes")};
}

void infer(InferContext& c) {
  limits_of(c.attrs());
  c.require_rank(0, 1);
  if (c.input(0).has_rank() && c.input(0)[0] != kUnknown && c.input(0)[0] != 3) {
    c.fail("image_size must contain 3 elements, got shape " + c.input(0).str());
  }
  if (c.inputs() == 3) c.require_scalar(2);
  c.set_output(0, Shape{3});
  c.set_output(1, Shape{3});
  c.set_output(2, Shape{1, 1, 4});
}

struct State {
  GeneratorRef generator;
  Limits limits;
};

State prepare(PrepareContext& c) { return {prepare_generator(c), limits_of(c.node().attrs())}; }

// Of pixels; the right and lower sides are outside.
struct Rectangle {
  int left = 0, top = 0, right = 0, bottom = 0;

  float area() const { return static_cast<float>((int64_t{right} - left) * (int64_t{bottom} - top)); }
  Rectangle cut(const Rectangle& other) const {
    const Rectangle common{std::max(left, other.left), std::max(top, other.top), std::min(right, other.right),
                           std::min(bottom, other.bottom)};
    return common.left > common.right || common.top > common.bottom ? Rectangle{} : common;
  }
};

bool covers(const Rectangle& crop, const std::vector<Rectangle>& boxes, float part) {
  if (crop.area() < 1) return false;
  return std::any_of(boxes.begin(), boxes.end(), [&](const Rectangle& box) {
    return box.area() >= 1 && crop.cut(box).area() / box.area() >= part;
  });
}

// Random numbers as TensorFlow draws them here.
class Draws {
 public:
  explicit Draws(const cpu::Philox& philox) : words_(philox) {}
  float fraction() {  // in [0, 1)
    return static_cast<float>(words_.next() & 0x7fffff) * 0x1p-23f;
  }
  int below(int n) {
    const auto range = static_cast<uint32_t>(n);
    if ((range & (range - 1)) == 0) return static_cast<int>(words_.next() & (range - 1));
    // The lowest words are thrown away, so that the others are a multiple of the range.
    const uint32_t rejected = std::numeric_limits<uint32_t>::max() % range + 1;
    uint32_t word = words_.next();
    while (word < rejected) word = words_.next();
    return static_cast<int>(word % range);
  }

 private:
  WordStream words_;
};

int rounded(float x) { return static_cast<int>(std::lrint(std::clamp(x, -2e9f, 2e9f))); }

// A crop of this shape whose area lies within the limits; nothing when there is none.
std::optional<Rectangle> random_crop(int width, int height, const Limits& limits, float aspect, Draws& draws) {
  if (width <= 0 || height <= 0 || aspect <= 0 || limits.area_low > limits.area_high) return std::nullopt;
  const float least = limits.area_low * static_cast<float>(width) * static_cast<float>(height);
  const float most = limits.area_high * static_cast<float>(width) * static_cast<float>(height);
  int tall = rounded(std::sqrt(least / aspect)), tallest = rounded(std::sqrt(most / aspect));
  if (rounded(static_cast<float>(tallest) * aspect) > width) {
    // As tall as a width that rounds to the picture's allows.
    constexpr float kEps = 0.0000001f;
    tallest = static_cast<int>((width + 0.5 - static_cast<double>(kEps)) / static_cast<double>(aspect));
  }
  tallest = std::min(tallest, height);
  if (tall < tallest) {
    tall += draws.below(tallest - tall + 1);
  } else {
    tall = tallest;
  }
  auto wide = [&] { return rounded(static_cast<float>(tall) * aspect); };
  auto area = [&] { return static_cast<float>(int64_t{wide()} * tall); };
  // Rounding may have carried the area past a limit.
  if (area() < least) ++tall;
  if (area() > most) --tall;
  if (area() < least || area() > most || wide() > width || tall > height || wide() <= 0 || tall <= 0) {
    return std::nullopt;
  }
  const int top = tall < height ? draws.below(height - tall) : 0;
  const int left = wide() < width ? draws.below(width - wide()) : 0;
  return Rectangle{left, top, left + wide(), top + tall};
}

std::vector<Rectangle> boxes_of(KernelContext& c, int width, int height, bool use_image) {
  // Not in infer(): programs ask for the shapes of what is never run.
  const Shape& shape = c.shape(1);
  if (shape.rank() != 3) {
    throw invalid_argument("input boxes must be 3-dimensional [batch, num_boxes, coords]: {}", shape.str());
  }
  if (shape[2] != 4) throw invalid_argument("bounding boxes must have shape [4] or [*, 4], got {}", shape.str());
  std::vector<Rectangle> boxes;
  const auto* corners = c.input<float>(1);
  for (int64_t i = 0; i < c.elements(1); i += 4) {
    for (int64_t j = i; j < i + 4; ++j) {
      if (!(corners[j] >= 0 && corners[j] <= 1)) {
        throw invalid_argument("All bounding box coordinates must be in [0.0, 1.0]: {}", corners[j]);
      }
    }
    auto pixel = [&](int64_t j, int size) { return static_cast<int>(corners[j] * static_cast<float>(size)); };
    boxes.push_back({pixel(i + 1, width), pixel(i, height), pixel(i + 3, width), pixel(i + 2, height)});
  }
  if (boxes.empty()) {
    if (!use_image) {
      throw invalid_argument(
          "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not "
          "provide any bounding boxes.");
    }
    boxes.push_back({0, 0, width, height});
  }
  return boxes;
}

template <class T>
int size_of(T size, const char* what) {
  if (size < 0 || static_cast<uint64_t>(size) >= std::numeric_limits<int32_t>::max()) {
    throw invalid_argument("image {} cannot be >= int32 max", what);
  }
  return static_cast<int>(size);
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& [generator, limits] = c.state<State>();
    const int height = size_of(c.input<T>(0)[0], "height"), width = size_of(c.input<T>(0)[1], "width");
    const float covered = c.inputs() == 3 ? c.scalar<float>(2) : c.node().attr<float>("min_object_covered");
    if (!(covered >= 0)) throw invalid_argument("Min object covered must be non-negative: {}", covered);
    const std::vector<Rectangle> boxes = boxes_of(c, width, height, limits.use_image);

    Draws draws(generator.generator->philox.reserve(limits.attempts));  // four words for each
    Rectangle crop{0, 0, width, height};
    for (int64_t i = 0; i < limits.attempts; ++i) {
      const float aspect = draws.fraction() * (limits.aspect_high - limits.aspect_low) + limits.aspect_low;
      const auto found = random_crop(width, height, limits, aspect, draws);
      if (found && covers(*found, boxes, covered)) {
        crop = *found;
        break;
      }
    }
    const int begin[3] = {crop.top, crop.left, 0}, size[3] = {crop.bottom - crop.top, crop.right - crop.left, -1};
    for (int i = 0; i < 3; ++i) {
      c.output<T>(0)[i] = static_cast<T>(begin[i]);
      c.output<T>(1)[i] = static_cast<T>(size[i]);
    }
    const auto rows = static_cast<float>(height), columns = static_cast<float>(width);
    auto* box = c.output<float>(2);
    box[0] = static_cast<float>(crop.top) / rows;
    box[1] = static_cast<float>(crop.left) / columns;
    box[2] = static_cast<float>(crop.bottom) / rows;
    box[3] = static_cast<float>(crop.right) / columns;
  }
};

using SizeTypes = Types<uint8_t, int8_t, int16_t, int32_t, int64_t>;

}  // namespace

OpDef sample_distorted_bounding_box_op() {
  return {
      .name = "SampleDistortedBoundingBox",
      .inputs = "image_size:T; bounding_boxes:float",
      .outputs = "begin:T; size:T; bboxes:float",
      .attrs =
          "T:type{uint8,int8,int16,int32,int64}; seed:int=0; seed2:int=0; "
          "min_object_covered:float=0.10000000149011612; aspect_ratio_range:list(float)=[0.75, 1.3300000429153442]; "
          "area_range:list(float)=[0.05000000074505806, 1.0]; max_attempts:int=100; "
          "use_image_if_no_bounding_boxes:bool=False",
      .flags = "stateful",
      .host = "begin, size",
      .infer = infer,
      .gradient = not_differentiable,
      .cpu = {.select = kernel_for<SizeTypes, Cpu>, .prepare = prepared<prepare>}};
}

OpDef sample_distorted_bounding_box_v2_op() {
  return {.name = "SampleDistortedBoundingBoxV2",
          .inputs = "image_size:T; bounding_boxes:float; min_object_covered:float",
          .outputs = "begin:T; size:T; bboxes:float",
          .attrs =
              "T:type{uint8,int8,int16,int32,int64}; seed:int=0; seed2:int=0; "
              "aspect_ratio_range:list(float)=[0.75, 1.3300000429153442]; "
              "area_range:list(float)=[0.05000000074505806, 1.0]; max_attempts:int=100; "
              "use_image_if_no_bounding_boxes:bool=False",
          .flags = "stateful",
          .host = "begin, size",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<SizeTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
