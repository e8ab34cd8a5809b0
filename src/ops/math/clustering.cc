#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/random/candidate_sampler.h"
#include "ops/run_control.h"

// What k-means clustering is made of: first centres by k-means++ (Arthur and Vassilvitskii, 2007) and by k-MC^2 (Bachem
// and others, 2016), and the nearest centres of points.
namespace weir::ops {
namespace {

float next_float(WordStream& words) {
  return std::bit_cast<float>(uint32_t{127} << 23 | (words.next() & 0x7fffffu)) - 1.0f;
}

double squared_distance(const float* a, const float* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double apart = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += apart * apart;
  }
  return sum;
}

void infer_plus_plus(InferContext& c) {
  c.require_rank(0, 2);
  for (int i : {1, 2, 3}) c.require_scalar(i);
  const auto count = c.value_as_ints(1);
  if (count && count->at(0) <= 0) throw invalid_argument("Expected num_to_sample > 0.");
  const Shape points = c.input(0).merged(Shape::unknown_dims(2));
  if (points[0] == 0) throw invalid_argument("Expected points.rows() > 0.");
  if (count && points[0] != kUnknown && count->at(0) > points[0]) {
    throw invalid_argument("Expected num_to_sample <= points.rows(). {} vs {}.", count->at(0), points[0]);
  }
  c.set_output(0, Shape{count ? count->at(0) : kUnknown, points[1]});
}

// Points are drawn with the probability of their squared distance to those drawn before.
void plus_plus_cpu(KernelContext& c) {
  const int64_t points = c.shape(0)[0], dims = c.shape(0)[1], wanted = c.scalar<int64_t>(1);
  int64_t retries = c.scalar<int64_t>(3);
  if (retries < 0) retries = 2 + static_cast<int64_t>(std::log(static_cast<double>(wanted)));
  const float* x = c.input<float>(0);
  WordStream words(cpu::Philox(static_cast<uint64_t>(c.scalar<int64_t>(2)), 0));
  std::vector<float> nearest(static_cast<size_t>(points), std::numeric_limits<float>::infinity()), sums(nearest.size());
  std::set<int64_t> drawn;
  auto draw = [&]() -> int64_t {
    if (drawn.empty()) return static_cast<int64_t>(next_below(words, static_cast<uint64_t>(points)));
    // Points that all lie on those drawn already leave nothing to choose by distance.
    for (int tries = 0; tries < 1000 && sums.back() > 0 && std::isfinite(sums.back()); ++tries) {
      const auto at = std::upper_bound(sums.begin(), sums.end(), next_float(words) * sums.back()) - sums.begin();
      const int64_t index = std::min<int64_t>(at, points - 1);
      if (!drawn.contains(index)) return index;
    }
    int64_t index = 0;
    while (drawn.contains(index)) ++index;
    return index;
  };
  std::vector<float> trial(nearest.size()), best(nearest.size());
  for (int64_t i = 0; i < wanted; ++i) {
    if (c.control()) c.control()->check();
    if (i > 0) std::partial_sum(nearest.begin(), nearest.end(), sums.begin());
    int64_t chosen = -1;
    double least = std::numeric_limits<double>::infinity();
    for (int64_t attempt = 0; attempt <= std::min<int64_t>(retries, 1 << 20); ++attempt) {
      const int64_t index = draw();
      double total = 0;
      for (int64_t p = 0; p < points; ++p) {
        const auto half = static_cast<float>(0.5 * squared_distance(x + p * dims, x + index * dims, dims));
        trial[static_cast<size_t>(p)] = std::min(nearest[static_cast<size_t>(p)], half);
        total += trial[static_cast<size_t>(p)];
      }
      if (chosen < 0 || total < least) {
        chosen = index;
        least = total;
        best.swap(trial);
      }
    }
    nearest.swap(best);
    drawn.insert(chosen);
    std::copy_n(x + chosen * dims, dims, c.output<float>() + i * dims);
  }
}

void infer_chain(InferContext& c) {
  c.require_rank(0, 1);
  c.require_scalar(1);
  if (c.input(0).has_rank() && c.input(0)[0] == 0) throw invalid_argument("Expected distances_tensor.size() > 0.");
  c.set_output(0, Shape{});
}

void chain_cpu(KernelContext& c) {
  WordStream words(cpu::Philox(static_cast<uint64_t>(c.scalar<int64_t>(1)), 0));
  const float* distances = c.input<float>(0);
  int64_t chosen = 0;
  for (int64_t i = 1; i < c.elements(0); ++i) {
    if (distances[i] > next_float(words) * distances[chosen]) chosen = i;
  }
  *c.output<int64_t>() = chosen;
}

void infer_nearest(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  c.require_scalar(2);
  const Shape points = c.input(0).merged(Shape::unknown_dims(2)), centers = c.input(1).merged(Shape::unknown_dims(2));
  if (points[0] == 0) throw invalid_argument("Expected points.rows() > 0.");
  if (points[1] != kUnknown && centers[1] != kUnknown && points[1] != centers[1]) {
    throw invalid_argument("Expected point_dimensions == center_dimensions: {} vs {}.", points[1], centers[1]);
  }
  const auto k = c.value_as_ints(2);
  if (k && k->at(0) < 0) throw invalid_argument("k must not be negative: {}", k->at(0));
  const Shape to{points[0], k && centers[0] != kUnknown ? std::min(k->at(0), centers[0]) : kUnknown};
  c.set_output(0, to);
  c.set_output(1, to);
}

void nearest_cpu(KernelContext& c) {
  const int64_t points = c.shape(0)[0], dims = c.shape(0)[1], centers = c.shape(1)[0], k = c.output_shape()[1];
  c.pool().parallel_for(points, 16, [&](int64_t begin, int64_t end) {
    std::vector<std::pair<float, int64_t>> all(static_cast<size_t>(centers));
    for (int64_t p = begin; p < end; ++p) {
      for (int64_t i = 0; i < centers; ++i) {
        const double apart = squared_distance(c.input<float>(0) + p * dims, c.input<float>(1) + i * dims, dims);
        all[static_cast<size_t>(i)] = {static_cast<float>(apart), i};
      }
      std::partial_sort(all.begin(), all.begin() + k, all.end());
      for (int64_t j = 0; j < k; ++j) {
        c.output<int64_t>(0)[p * k + j] = all[static_cast<size_t>(j)].second;
        c.output<float>(1)[p * k + j] = all[static_cast<size_t>(j)].first;
      }
    }
  });
}

}  // namespace

OpDef kmeans_plus_plus_initialization_op() {
  return {.name = "KmeansPlusPlusInitialization",
          .inputs = "points:float; num_to_sample:int64; seed:int64; num_retries_per_sample:int64",
          .outputs = "samples:float",
          .host = "num_to_sample, seed, num_retries_per_sample",
          .infer = infer_plus_plus,
          .cpu = {.select = kernel_any<plus_plus_cpu>}};
}

OpDef kmc2_chain_initialization_op() {
  return {.name = "KMC2ChainInitialization",
          .inputs = "distances:float; seed:int64",
          .outputs = "index:int64",
          .host = "seed",
          .infer = infer_chain,
          .cpu = {.select = kernel_any<chain_cpu>}};
}

OpDef nearest_neighbors_op() {
  return {.name = "NearestNeighbors",
          .inputs = "points:float; centers:float; k:int64",
          .outputs = "nearest_center_indices:int64; nearest_center_distances:float",
          .host = "k",
          .infer = infer_nearest,
          .cpu = {.select = kernel_any<nearest_cpu>}};
}

}  // namespace weir::ops
