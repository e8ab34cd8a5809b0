#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/types.h"
#include "weir/graph.h"

// Levenshtein distances between the sequences of two sparse tensors: the last coordinate runs along a sequence.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  for (int i : {0, 3}) {
    c.require_rank(i, 2);
    c.require_rank(i + 1, 1);
    c.require_rank(i + 2, 1);
  }
  const Shape a = shape_argument(c, 2), b = shape_argument(c, 5);
  if (!a.is_known() || !b.is_known()) return;
  if (a.rank() != b.rank() || a.rank() < 1) {
    throw invalid_argument("hypothesis and truth have shapes {} and {}", a.str(), b.str());
  }
  Shape to;
  for (int i = 0; i + 1 < a.rank(); ++i) to.append(std::max(a[i], b[i]));
  // A result without elements is never computed, so that nobody would look at the indices.
  if (to.elements() == 0) throw invalid_argument("Got output shape {} which has 0 elements", to.str());
  c.set_output(0, to);
}

struct State {
  bool normalize;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("normalize")}; }

template <class T>
int64_t distance(const std::vector<const T*>& a, const std::vector<const T*>& b, std::vector<int64_t>& row) {
  row.resize(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int64_t diagonal = std::exchange(row[0], static_cast<int64_t>(i));
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t replaced = diagonal + (*a[i - 1] == *b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const Shape& to = c.output_shape();
    using Sequences = std::map<int64_t, std::vector<const T*>>;
    auto gather = [&](int first) {
      Sequences sequences;
      const int64_t n = c.shape(first)[0], depth = c.shape(first)[1];
      if (depth != to.rank() + 1 || c.elements(first + 1) != n) {
        throw invalid_argument("{} values at indices of shape {}", c.elements(first + 1), c.shape(first).str());
      }
      for (int64_t i = 0; i < n; ++i) {
        int64_t at = 0;
        for (int d = 0; d < to.rank(); ++d) {
          const int64_t x = c.input<int64_t>(first)[i * depth + d];
          if (x < 0 || x >= to[d]) throw invalid_argument("index {} is not in [0, {})", x, to[d]);
          at = at * to[d] + x;
        }
        sequences[at].push_back(c.input<T>(first + 1) + i);
      }
      return sequences;
    };
    const Sequences hypothesis = gather(0), truth = gather(3);
    const std::vector<const T*> nothing;
    auto at = [&](const Sequences& sequences, int64_t i) -> const std::vector<const T*>& {
      auto found = sequences.find(i);
      return found == sequences.end() ? nothing : found->second;
    };
    std::vector<int64_t> row;
    for (int64_t i = 0; i < c.output_elements(); ++i) {
      const std::vector<const T*>&a = at(hypothesis, i), &b = at(truth, i);
      auto edits = static_cast<float>(distance(a, b, row));
      if (c.state<State>().normalize) {
        // Against an empty truth anything is infinitely wrong, but for nothing.
        edits = b.empty() ? (a.empty() ? 0.f : std::numeric_limits<float>::infinity())
                          : edits / static_cast<float>(b.size());
      }
      c.output<float>()[i] = edits;
    }
  }
};

}  // namespace

OpDef edit_distance_op() {
  return {.name = "EditDistance",
          .inputs =
              "hypothesis_indices:int64; hypothesis_values:T; hypothesis_shape:int64; truth_indices:int64; "
              "truth_values:T; truth_shape:int64",
          .outputs = "output:float",
          .attrs = "normalize:bool=True; T:type",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<AllTypes, Cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops
