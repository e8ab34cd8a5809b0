#include "nn/image/checks.h"
#include "weir/image.h"
#include "weir/ops.h"

namespace weir::image {
namespace {

using nn::graph_of;

Output between_limits(Graph& g, float low, float high, const RandomOptions& options) {
  return random_uniform(g, Tensor(std::vector<int32_t>{}), {.minval = low, .maxval = In(high), .seed = options.seed});
}

void require_range(float lower, float upper) {
  if (!(upper > lower)) throw invalid_argument("upper must be > lower.");
  if (lower < 0) throw invalid_argument("lower must be non-negative.");
}

}  // namespace

Output random_brightness(const In& image, float max_delta, const RandomOptions& options) {
  if (!(max_delta >= 0)) throw invalid_argument("max_delta must be non-negative.");
  Graph& g = graph_of(image);
  LineScope line(g, source_line(image.where()));
  return adjust_brightness(image, between_limits(g, -max_delta, max_delta, options));
}

Output random_contrast(const In& image, float lower, float upper, const RandomOptions& options) {
  require_range(lower, upper);
  Graph& g = graph_of(image);
  LineScope line(g, source_line(image.where()));
  return adjust_contrast(image, between_limits(g, lower, upper, options));
}

Output random_saturation(const In& image, float lower, float upper, const RandomOptions& options) {
  require_range(lower, upper);
  Graph& g = graph_of(image);
  LineScope line(g, source_line(image.where()));
  return adjust_saturation(image, between_limits(g, lower, upper, options));
}

Output random_hue(const In& image, float max_delta, const RandomOptions& options) {
  if (!(max_delta <= 0.5f)) throw invalid_argument("max_delta must be <= 0.5.");
  if (max_delta < 0) throw invalid_argument("max_delta must be non-negative.");
  Graph& g = graph_of(image);
  LineScope line(g, source_line(image.where()));
  return adjust_hue(image, between_limits(g, -max_delta, max_delta, options));
}

Output random_jpeg_quality(const In& image, int64_t lower, int64_t upper, const RandomOptions& options) {
  if (lower < 0 || upper < 0 || lower > 100 || upper > 100) {
    throw invalid_argument("jpeg encoding range must be between 0 and 100.");
  }
  if (lower >= upper) throw invalid_argument("`min_jpeg_quality` must be less than `max_jpeg_quality`.");
  Graph& g = graph_of(image);
  LineScope line(g, source_line(image.where()));
  return adjust_jpeg_quality(
      image, random_uniform(g, Tensor(std::vector<int32_t>{}),
                            {.minval = lower, .maxval = In(upper), .dtype = int32, .seed = options.seed}));
}

}  // namespace weir::image
