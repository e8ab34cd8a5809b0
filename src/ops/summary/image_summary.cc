#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/summary/summary_output.h"
#include "ops/summary/summary_writer.h"
#include "ops/types.h"
#include "weir/image_codecs.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  infer_tagged_summary(c);
}

void infer_write(InferContext& c) {
  infer_write_summary(c);
  c.require_rank(4, 1);
}

struct State {
  int64_t max_images;
  std::vector<uint8_t> bad_color;
};

State prepare(PrepareContext& c) {
  const Tensor& color = c.attr<Tensor>("bad_color");
  if (color.dtype() != DType::UInt8) {
    throw Error(Code::InvalidArgument, "bad_color must be uint8, got " + std::string(dtype_name(color.dtype())));
  }
  if (color.shape().rank() != 1) {
    throw Error(Code::InvalidArgument, "bad_color must be a vector, got shape " + color.shape().str());
  }
  return {c.attr<int64_t>("max_images"), {color.data<uint8_t>().begin(), color.data<uint8_t>().end()}};
}

template <class T>
bool all_finite(const T* pixel, int64_t depth) {
  return std::all_of(pixel, pixel + depth, [](T value) { return std::isfinite(static_cast<double>(value)); });
}

// Scales a picture to bytes: from 0 and its largest value to 0 and 255; when there are negative values, symmetrically
// around 128. Pixels that are not finite get the bad colour. Arithmetic is in T, as TensorFlow's.
template <class T>
void normalise(const T* values, int64_t pixels, int64_t depth, const std::vector<uint8_t>& bad_color, uint8_t* bytes) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (int64_t i = 0; i < pixels; ++i) {
    if (!all_finite(values + i * depth, depth)) continue;
    for (int64_t j = 0; j < depth; ++j) {
      const auto value = static_cast<float>(values[i * depth + j]);
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  constexpr float kZero = 1e-6f;  // a picture this dark is black
  const float range = low < 0 ? std::max(std::abs(low), std::abs(high)) : high;
  const T scale(range < kZero ? 0.0f : (low < 0 ? 127.0f : 255.0f) / range);
  const T offset(low < 0 ? 128.0f : 0.0f);
  for (int64_t i = 0; i < pixels * depth; i += depth) {
    if (!all_finite(values + i, depth)) {
      std::copy_n(bad_color.begin(), depth, bytes + i);
      continue;
    }
    for (int64_t j = i; j < i + depth; ++j) {
      const auto value = static_cast<double>(static_cast<T>(static_cast<T>(values[j] * scale) + offset));
      bytes[j] = value > 0 ? static_cast<uint8_t>(std::min(value, 255.0)) : 0;  // also when the scale overflowed
    }
  }
}

// Inputs `tag` and the one behind are the tag and the pictures.
template <class T>
proto::Summary pictures(KernelContext& c, int tag, int64_t max_images, const std::vector<uint8_t>& bad_color) {
  const Shape& shape = c.shape(tag + 1);
  // Not in the shape function: as in TensorFlow, summaries of something else are in many graphs and never run.
  if (shape.rank() != 4 || (shape[3] != 1 && shape[3] != 3 && shape[3] != 4)) {
    c.fail("Tensor must be 4-D with last dim 1, 3, or 4, not " + shape.str());
  }
  const int64_t height = shape[1], width = shape[2], depth = shape[3], pixels = height * width;
  if (c.elements(tag + 1) == 0 && shape[0] != 0) {
    c.fail("input tensor must have non-zero dims. Found: " + shape.str());
  }
  if (depth > static_cast<int64_t>(bad_color.size()) && !std::is_same_v<T, uint8_t>) {
    c.fail("expected depth <= bad_color.size, got depth = " + std::to_string(depth) +
           ", bad_color.size = " + std::to_string(bad_color.size()));
  }
  proto::Summary summary;
  Tensor picture(uint8, {height, width, depth});
  for (int64_t i = 0; i < std::min(max_images, shape[0]); ++i) {
    const T* values = c.input<T>(tag + 1) + i * pixels * depth;
    proto::Summary::Value& value = *summary.add_value();
    value.set_tag(numbered_tag(c.input<std::string>(tag)[0], "image", i, max_images));
    proto::Summary::Image& image = *value.mutable_image();
    image.set_height(static_cast<int32_t>(height));
    image.set_width(static_cast<int32_t>(width));
    image.set_colorspace(static_cast<int32_t>(depth));
    if constexpr (std::is_same_v<T, uint8_t>) {
      std::copy_n(values, pixels * depth, picture.mutable_data<uint8_t>());
    } else {
      normalise(values, pixels, depth, bad_color, picture.mutable_data<uint8_t>());
    }
    image.set_encoded_image_string(encode_png(picture));
  }
  return summary;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    set_summary(c, pictures<T>(c, 0, c.state<State>().max_images, c.state<State>().bad_color));
  }
};

int64_t prepare_write(PrepareContext& c) { return c.attr<int64_t>("max_images"); }

struct Write {
  template <class T>
  static void run(KernelContext& c) {
    const auto* color = c.input<uint8_t>(4);
    write_summary(c, pictures<T>(c, 2, c.state<int64_t>(), {color, color + c.elements(4)}));
  }
};

}  // namespace

OpDef image_summary_op() {
  return {.name = "ImageSummary",
          .inputs = "tag:string; tensor:T",
          .outputs = "summary:string",
          .attrs =
              "max_images:int>=1=3; T:type{uint8,float,half,double}=float; "
              "bad_color:tensor=uint8[255,0,0,255]",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<uint8_t, float, Half, double>, Cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

OpDef write_image_summary_op() {
  return write_row("WriteImageSummary", "writer:resource; step:int64; tag:string; tensor:T; bad_color:uint8",
                   "max_images:int>=1=3; T:type{uint8,float,half}=float", infer_write,
                   {.select = kernel_for<Types<uint8_t, float, Half>, Write>, .prepare = prepared<prepare_write>});
}

}  // namespace weir::ops
