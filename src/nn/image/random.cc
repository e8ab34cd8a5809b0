#include <limits>

#include "nn/image/checks.h"
#include "weir/image.h"
#include "weir/ops.h"

namespace weir::image {
namespace {

using nn::as_output;
using nn::graph_of;

Output between_limits(Graph& g, float low, float high, const RandomOptions& options) {
  return random_uniform(g, Tensor(std::vector<int32_t>{}), {.minval = low, .maxval = In(high), .seed = options.seed});
}

void require_range(float lower, float upper) {
  if (!(upper > lower)) throw invalid_argument("upper must be > lower.");
  if (lower < 0) throw invalid_argument("lower must be non-negative.");
}

}  // namespace

Output random_crop(const In& in, const In& size_in, const RandomOptions& options, std::string_view name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "random_crop" : name);
  Output value = as_output(g, in, DType::Invalid, "value"), size = as_output(g, size_in, int32, "size");
  Output dims = shape(value);
  Operation fits = assert_true(reduce_all(greater_equal(dims, size)), {"Need value.shape >= size, got ", dims, size},
                               {.summarize = 1000});
  {
    Scope after = g.control_dependencies({fits});
    dims = identity(dims, "control_dependency");
  }
  Output limit = dims - size + 1;
  const int64_t largest =
      size.dtype() == int64 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
  Output drawn = random_uniform(g, shape(limit), {.maxval = In(largest), .dtype = size.dtype(), .seed = options.seed});
  return slice(value, mod(drawn, limit, "mod"), size, scope.name());
}

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
