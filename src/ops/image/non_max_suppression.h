#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/kernel.h"

namespace weir::ops {

// How much two boxes have in common: the area of what both cover over that of what either covers. A box [y1, x1, y2,
// x2] may have its corners in any order; one without an area has nothing in common with any.
template <class T>
T overlap_of_boxes(const T* a, const T* b) {
  auto low = [](const T* box, int i) { return std::min<float>(box[i], box[i + 2]); };
  auto high = [](const T* box, int i) { return std::max<float>(box[i], box[i + 2]); };
  auto narrow = [](float x) { return static_cast<T>(x); };  // each step is rounded to T, as in TensorFlow
  auto area = [&](const T* box) {
    return narrow(narrow(high(box, 0) - low(box, 0)) * narrow(high(box, 1) - low(box, 1)));
  };
  const T area_a = area(a), area_b = area(b);
  if (area_a <= T(0.0f) || area_b <= T(0.0f)) return T(0.0f);
  auto common = [&](int i) {
    return std::max<float>(narrow(std::min(high(a, i), high(b, i)) - std::max(low(a, i), low(b, i))), 0.0f);
  };
  const T both = narrow(common(0) * common(1));
  return narrow(both / narrow(narrow(area_a + area_b) - both));
}

template <class T>
struct Suppression {
  T threshold;             // boxes that have at least this much in common with a better one are dropped
  T score_threshold;       // ... and those whose score is not above this
  T soft_sigma = T(0.0f);  // above 0: what boxes have in common also lowers their scores
  int64_t most = 0;
};

template <class T>
struct Selected {
  std::vector<int32_t> indices;
  std::vector<T> scores;
};

// Takes boxes by their scores, best first. `overlap(i, j)` says how much boxes i and j have in common.
template <class T, class Overlap>
Selected<T> suppress(const T* scores, int64_t boxes, const Suppression<T>& options, Overlap overlap) {
  struct Candidate {
    int32_t box;
    T score;
    size_t compared;  // with so many of those that were taken
    bool taken = false;
  };
  auto worse = [](const Candidate& a, const Candidate& b) { return a.score < b.score; };
  std::vector<Candidate> heap;
  for (int64_t i = 0; i < boxes; ++i) {
    if (!(scores[i] > options.score_threshold)) continue;
    heap.push_back({static_cast<int32_t>(i), scores[i], 0});
    std::push_heap(heap.begin(), heap.end(), worse);
  }
  const T scale = options.soft_sigma > T(0.0f) ? static_cast<T>(-0.5f / options.soft_sigma) : T(0.0f);
  Selected<T> selected;
  while (static_cast<int64_t>(selected.indices.size()) < options.most && !heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), worse);
    Candidate next = heap.back();
    heap.pop_back();
    if (next.taken) continue;
    const T before = next.score;
    bool dropped = false;
    // Boxes in one place have scores of one size, so that the last ones taken come first.
    for (size_t j = selected.indices.size(); j-- > next.compared && !dropped;) {
      const T common = overlap(next.box, selected.indices[j]);
      const T weight =
          common <= options.threshold
              ? static_cast<T>(std::exp(static_cast<float>(static_cast<T>(static_cast<T>(scale * common) * common))))
              : T(0.0f);
      next.score = static_cast<T>(next.score * weight);
      dropped = common >= options.threshold;
      if (next.score <= options.score_threshold) break;
    }
    next.compared = selected.indices.size();
    if (dropped) continue;
    if (next.score == before) {
      selected.indices.push_back(next.box);
      selected.scores.push_back(next.score);
      next.taken = true;
    }
    if (next.score > options.score_threshold) {
      // Its turn comes again with the lower score. What was taken goes back too, for TensorFlow's order of equal
      // scores.
      heap.push_back(next);
      std::push_heap(heap.begin(), heap.end(), worse);
    }
  }
  return selected;
}

}  // namespace weir::ops
