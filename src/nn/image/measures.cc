#include <cmath>

#include "nn/image/checks.h"
#include "weir/control_flow.h"
#include "weir/image.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"
#include "weir/space_ops.h"

namespace weir::image {
namespace {

using nn::as_output;
using nn::graph_of;

// Differences of neighbours along an axis: x[1:] - x[:-1].
Output differences(const Output& x, int axis) {
  std::vector<Subscript> behind, before;
  for (int i = 0; i < x.shape().rank(); ++i) {
    behind.push_back(i == axis ? from(1) : kAll);
    before.push_back(i == axis ? until(-1) : kAll);
  }
  Output left = subscript(x, behind);
  return left - subscript(x, before);
}

// The last three dimensions of two pictures must be equal, and those before them fit together.
struct Pair {
  Output shape_a, shape_b;
  std::vector<Operation> checks;
};
Pair verify_compatible(const Output& a, const Output& b) {
  for (const Output& image : {a, b}) {
    if (image.shape().has_rank() && image.shape().rank() < 3) {
      throw invalid_argument("Shape {} must have rank at least 3", image.shape().str());
    }
  }
  if (a.shape().has_rank() && b.shape().has_rank()) {
    const Shape &left = a.shape(), &right = b.shape();
    for (int i = -3; i < 0; ++i) {
      if (left[i] != kUnknown && right[i] != kUnknown && left[i] != right[i]) {
        throw invalid_argument("Shapes {} and {} are incompatible", left.str(), right.str());
      }
    }
    for (int i = -4; i >= -std::min(left.rank(), right.rank()); --i) {
      if (left[i] != 1 && right[i] != 1 && left[i] != kUnknown && right[i] != kUnknown && left[i] != right[i]) {
        throw invalid_argument("Two images are not compatible: {} and {}", left.str(), right.str());
      }
    }
  }
  const std::vector<Output> shapes = shape_n({a, b});
  Pair pair{shapes[0], shapes[1], {}};
  const AssertOptions ten{.summarize = 10};
  Output long_enough = greater_equal(size(shapes[0]), 3);
  pair.checks.push_back(assert_true(long_enough, {shapes[0], shapes[1]}, ten));
  Output last_a = subscript(shapes[0], {from(-3)});
  Output same = reduce_all(equal(last_a, subscript(shapes[1], {from(-3)})));
  pair.checks.push_back(assert_true(same, {shapes[0], shapes[1]}, ten));
  return pair;
}

Output identity_after(const Output& x, const std::vector<Operation>& checks) {
  Scope scope = x.graph().control_dependencies(checks);
  return identity(x);
}

// The largest value as tf.cast and convert_image_dtype make it.
Output largest_value(Graph& g, const In& max_val, DType image) {
  Output value;
  if (max_val.output()) {
    value = cast(max_val.output(), image);
  } else {
    Scope scope = g.name_scope("Cast");
    const bool whole = max_val.value().dtype() == int32 || max_val.value().dtype() == int64;
    const DType type = whole ? int32 : float32;
    Output x = g.constant(literal_of(number_of(max_val), type), type, "x");
    value = cast(x, image, scope.name());
  }
  return convert_image_dtype(value, float32);
}

Output gaussian(Graph& g, const Output& size, const Output& sigma) {
  Output coordinates = cast(range(0, size), sigma.dtype());
  Output centre = cast(size - 1, sigma.dtype()) / 2.0;
  coordinates = coordinates - centre;
  Output squares = square(coordinates);
  squares = squares * (-0.5 / square(sigma));
  Output row = reshape(squares, {1, -1});
  Output sum = row + reshape(squares, {-1, 1});
  Output weights = nn::softmax(reshape(sum, {1, -1}));
  Scope scope = g.name_scope("Reshape");
  return reshape(weights, stack({size, size, 1, 1}, 0, "shape"), scope.name());
}

struct Similarity {
  Output structure, contrast;  // SSIM, and its part without brightness; for each channel
};

Similarity ssim_of_channels(const Output& a, const Output& b, const Output& max_val, const SsimOptions& options) {
  Graph& g = a.graph();
  Output filter_size = g.constant(Literal(options.filter_size), int32);
  Output sigma = g.constant(Literal(options.filter_sigma), a.dtype());
  const std::vector<Output> shapes = shape_n({a, b});
  std::vector<Operation> checks;
  for (const Output& shape : shapes) {
    Output fits = reduce_all(greater_equal(subscript(shape, {between(-3, -1)}), filter_size));
    checks.push_back(assert_true(fits, {shape, filter_size}, {.summarize = 8}));
  }
  Output first = identity_after(a, checks);
  Output kernel = gaussian(g, filter_size, sigma);
  Output channels = subscript(shapes[0], {-1});
  {
    Scope scope = g.name_scope("Tile");
    kernel = tile(kernel, stack({1, 1, channels, 1}, 0, "multiples"), scope.name());
  }
  auto mean = [&](const Output& x) {
    Output sizes = shape(x);
    Output last = subscript(sizes, {from(-3)});
    Output flat = reshape(x, concat({{-1}, last}, 0));
    Output y = nn::depthwise_conv2d(flat, kernel, {.strides = {1, 1, 1, 1}, .padding = "VALID"});
    Output head = subscript(sizes, {until(-3)});
    Output tail = subscript(shape(y), {from(1)});
    return reshape(y, concat({head, tail}, 0));
  };
  Output c1 = pow(options.k1 * max_val, 2, "pow"), c2 = pow(options.k2 * max_val, 2, "pow");
  Output mean_a = mean(first), mean_b = mean(b);
  Output product = mean_a * mean_b * 2.0;
  Output squares = square(mean_a) + square(mean_b);
  Output luminance = (product + c1) / (squares + c1);
  Output covariance = mean(first * b) * 2.0;
  Output variance = mean(square(first) + square(b));
  c2 = c2 * 1.0;
  Output contrast = (covariance - product + c2) / (variance - squares + c2);
  Output axes = g.constant(Tensor(std::vector<int32_t>{-3, -2}));
  Output structure = reduce_mean(luminance * contrast, {.axes = axes});
  return {structure, reduce_mean(contrast, {.axes = axes})};
}

// Half the size, of pictures with an even number of rows and columns.
std::vector<Output> halved(const std::vector<Output>& images, const std::vector<Output>& tails, const Output& divisor) {
  std::vector<Output> flat;
  for (size_t i = 0; i < images.size(); ++i) flat.push_back(reshape(images[i], concat({{-1}, tails[i]}, 0)));
  Output remainder = floormod(tails[0], divisor, "mod");
  Output odd = reduce_any(not_equal(remainder, 0));
  auto pad_images = [&] {
    Output paddings = pad(expand_dims(remainder, -1), {{1, 0}, {1, 0}});
    std::vector<Output> padded;
    for (const Output& x : flat) padded.push_back(mirror_pad(x, paddings, MirrorMode::Symmetric));
    return padded;
  };
  const std::vector<Output> padded = cond(odd, std::function<std::vector<Output>()>(pad_images),
                                          std::function<std::vector<Output>()>([&] { return flat; }));
  std::vector<Output> result;
  for (const Output& x : padded) {
    result.push_back(nn::avg_pool(x, {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}, .padding = "VALID"}));
  }
  return result;
}

}  // namespace

Output total_variation(const In& in, std::string_view name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "total_variation" : name);
  Output images = as_output(g, in, float32, "images");
  const int rank = images.shape().rank();
  if (rank != 3 && rank != 4) throw invalid_argument("'images' must be either 3 or 4-dimensional.");
  Output down = differences(images, rank - 3), across = differences(images, rank - 2);
  const ReduceOptions picture = rank == 3 ? ReduceOptions{} : ReduceOptions{.axes = {1, 2, 3}};
  Output rows = reduce_sum(abs(down), picture);
  return rows + reduce_sum(abs(across), picture);
}

Output psnr(const In& first, const In& second, const In& max_val, std::string_view name) {
  Graph& g = graph_of(first, second);
  LineScope line(g, source_line(first.where()));
  Scope scope = g.name_scope(name.empty() ? "PSNR" : name);
  Output a = as_output(g, first, float32, "a"), b = as_output(g, second, a.dtype(), "b");
  Output largest = largest_value(g, max_val, a.dtype());
  a = convert_image_dtype(a, float32);
  b = convert_image_dtype(b, float32);
  Output error = reduce_mean(squared_difference(a, b), {.axes = {-3, -2, -1}});
  Output decibels = 20 * log(largest) / log(g.constant(Literal(10.0), float32, "Log_1/x"));
  Output lost = In(static_cast<float>(10 / std::log(10.0))) * log(error);
  Output value = subtract(decibels, lost, "psnr");
  return identity_after(value, verify_compatible(a, b).checks);
}

Output ssim(const In& first, const In& second, const In& max_val, const SsimOptions& options) {
  Graph& g = graph_of(first, second);
  LineScope line(g, source_line(first.where()));
  Output a = as_output(g, first, float32, "img1"), b = as_output(g, second, a.dtype(), "img2");
  a = identity_after(a, verify_compatible(a, b).checks);
  Output largest = largest_value(g, max_val, a.dtype());
  a = convert_image_dtype(a, float32);
  b = convert_image_dtype(b, float32);
  return reduce_mean(ssim_of_channels(a, b, largest, options).structure, {.axes = {-1}});
}

Output ssim_multiscale(const In& first, const In& second, const In& max_val, const std::vector<float>& power_factors,
                       const SsimOptions& options) {
  if (power_factors.empty()) throw invalid_argument("ssim_multiscale needs at least one power factor");
  Graph& g = graph_of(first, second);
  LineScope line(g, source_line(first.where()));
  Scope scope = g.name_scope("MS-SSIM");
  Output a = as_output(g, first, float32, "img1"), b = as_output(g, second, a.dtype(), "img2");
  const Pair pair = verify_compatible(a, b);
  a = identity_after(a, pair.checks);
  Output largest = largest_value(g, max_val, a.dtype());
  std::vector<Output> images = {convert_image_dtype(a, float32), convert_image_dtype(b, float32)};
  std::vector<Output> heads, tails;
  for (const Output& shape : {pair.shape_a, pair.shape_b}) heads.push_back(subscript(shape, {until(-3)}));
  for (const Output& shape : {pair.shape_a, pair.shape_b}) tails.push_back(subscript(shape, {from(-3)}));
  Output divisor = g.constant(Tensor(std::vector<int32_t>{2, 2, 1}));
  std::vector<In> factors;
  for (size_t k = 0; k < power_factors.size(); ++k) {
    Scope scale = g.name_scope("Scale" + std::to_string(k));
    if (k > 0) {
      const std::vector<Output> small = halved(images, tails, divisor);
      const std::vector<Output> shapes = shape_n(small);
      for (size_t i = 0; i < 2; ++i) tails[i] = subscript(shapes[i], {from(1)});
      for (size_t i = 0; i < 2; ++i) images[i] = reshape(small[i], concat({heads[i], tails[i]}, 0));
    }
    const Similarity found = ssim_of_channels(images[0], images[1], largest, options);
    // Brightness counts at the last scale alone.
    const bool last = k + 1 == power_factors.size();
    factors.push_back(nn::relu(last ? found.structure : found.contrast));
  }
  Output all = stack(factors, -1);
  Output product = reduce_prod(pow(all, Tensor(power_factors)), {.axes = {-1}});
  return reduce_mean(product, {.axes = {-1}});
}

std::pair<Output, Output> image_gradients(const In& in) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Output image = as_output(g, in, float32, "image");
  if (image.shape().rank() != 4) {
    throw invalid_argument("image_gradients expects a 4D tensor [batch_size, h, w, d], not {}.", image.shape().str());
  }
  Output sizes = shape(image);
  const std::vector<Output> dims = unstack(sizes, 4);
  Output dy = differences(image, 1), dx = differences(image, 2);
  Output row = stack({dims[0], 1, dims[2], dims[3]});
  dy = reshape(concat({dy, zeros(g, row, image.dtype())}, 1), sizes);
  Output column = stack({dims[0], dims[1], 1, dims[3]});
  dx = reshape(concat({dx, zeros(g, column, image.dtype())}, 2), sizes);
  return {dy, dx};
}

Output sobel_edges(const In& in) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Output image = as_output(g, in, float32, "image");
  const Shape known = image.shape();
  Output sizes = shape(image);
  // [3, 3, 1, 2]: the kernels for rows and for columns.
  const Tensor kernels =
      Tensor::from<float>({-1, -1, -2, 0, -1, 1, 0, -2, 0, 0, 0, 2, 1, -1, 2, 0, 1, 1}, {3, 3, 1, 2});
  Output kernel = g.constant(convert_literal(kernels, image.dtype()));
  Output channels = subscript(sizes, {-1});
  {
    Scope scope = g.name_scope("sobel_filters");
    kernel = tile(kernel, stack({1, 1, channels, 1}, 0, "multiples"), scope.name());
  }
  Output padded = mirror_pad(image, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}, MirrorMode::Reflect);
  Output edges = nn::depthwise_conv2d(padded, kernel, {.strides = {1, 1, 1, 1}, .padding = "VALID"});
  Output result = reshape(edges, concat({sizes, {2}}, 0));
  if (known.has_rank()) {
    Shape with_edges = known;
    with_edges.append(2);
    result.set_shape(with_edges);
  }
  return result;
}

}  // namespace weir::image
