#include "ops/image/cubic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir::ops {
namespace {

constexpr int64_t kSteps = 1024;

struct Table {
  std::array<float, kSteps + 1> near, far;  // of pixels at most one away, and one to two away

  explicit Table(double a) {
    for (int64_t i = 0; i <= kSteps; ++i) {
      auto x = static_cast<float>(static_cast<double>(i) / static_cast<double>(kSteps));
      near[static_cast<size_t>(i)] = static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
      x += 1.0f;
      far[static_cast<size_t>(i)] = static_cast<float>(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
    }
  }
};

void normalise(std::array<float, 4>& weight) {
  const float sum = weight[0] + weight[1] + weight[2] + weight[3];
  if (std::abs(sum) < 1000.0f * std::numeric_limits<float>::min()) return;
  const float factor = 1.0f / sum;
  for (float& w : weight) w *= factor;
}

}  // namespace

std::vector<Cubic> cubics(int64_t in, int64_t out, const Scaling& scaling) {
  static const Table keys(-0.5), legacy(-0.75);
  const Table& table = scaling.half_pixel_centers ? keys : legacy;
  std::vector<Cubic> result(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float at = scaling.at(i);
    const auto first = static_cast<int64_t>(std::floor(at));
    const float delta = at - static_cast<float>(first);
    const auto step = static_cast<size_t>(std::lrint(delta * static_cast<float>(kSteps)));
    Cubic& cubic = result[static_cast<size_t>(i)];
    cubic.weight = {table.far[step], table.near[step], table.near[kSteps - step], table.far[kSteps - step]};
    for (size_t j = 0; j < 4; ++j) {
      const int64_t index = first - 1 + static_cast<int64_t>(j);
      cubic.index[j] = std::clamp<int64_t>(index, 0, in - 1);
      if (scaling.half_pixel_centers && cubic.index[j] != index) cubic.weight[j] = 0;
    }
    if (scaling.half_pixel_centers) normalise(cubic.weight);
  }
  return result;
}

}  // namespace weir::ops
