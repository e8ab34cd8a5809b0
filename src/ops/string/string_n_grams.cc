#include <algorithm>
#include <vector>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 1);
  for (int64_t width : c.attr<std::vector<int64_t>>("ngram_widths")) {
    if (width <= 0) throw invalid_argument("ngram widths must be positive; got {}", width);
  }
  c.set_output(0, Shape{kUnknown});
  c.set_output(1, c.input(1));
}

struct State {
  std::string separator, left_pad, right_pad;
  std::vector<int64_t> widths;
  int64_t pad_width;
  bool preserve_short;
};

State prepare(PrepareContext& c) {
  return {c.attr<std::string>("separator"), c.attr<std::string>("left_pad"),
          c.attr<std::string>("right_pad"), c.attr<std::vector<int64_t>>("ngram_widths"),
          c.attr<int64_t>("pad_width"),     c.attr<bool>("preserve_short_sequences")};
}

// How many pads stand on each side for n-grams of that width.
int64_t pads(const State& state, int64_t width) {
  return std::min(state.pad_width < 0 ? width - 1 : state.pad_width, width - 1);
}

std::string joined(const std::string* words, int64_t count, const State& state, int64_t pad, int64_t width,
                   int64_t begin) {
  std::string text;
  for (int64_t i = begin; i < begin + width; ++i) {
    if (i > begin) text += state.separator;
    text += i < pad ? state.left_pad : i < pad + count ? words[i - pad] : state.right_pad;
  }
  return text;
}

void add_row(const State& state, const std::string* words, int64_t count, std::vector<std::string>& ngrams) {
  const size_t before = ngrams.size();
  for (int64_t width : state.widths) {
    const int64_t pad = pads(state, width), all = count + 2 * pad;
    for (int64_t begin = 0; begin + width <= all; ++begin) {
      ngrams.push_back(joined(words, count, state, pad, width, begin));
    }
  }
  // A row that is too short for all widths is one n-gram of itself.
  if (state.preserve_short && ngrams.size() == before && count > 0) {
    const int64_t pad = state.pad_width < 0 ? 0 : state.pad_width;
    ngrams.push_back(joined(words, count, state, pad, count + 2 * pad, 0));
  }
}

void cpu(KernelContext& c) {
  const State& state = c.state<State>();
  if (state.preserve_short && state.widths.empty() && state.pad_width < 0) {
    throw invalid_argument(
        "Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are not provided, got {}",
        state.pad_width);
  }
  const int64_t splits = c.elements(1), words = c.elements(0);
  std::vector<std::string> ngrams;
  std::vector<int64_t> ends;
  int64_t before = 0;
  for (int64_t i = 0; i < splits; ++i) {
    const int64_t at = int_at(c, 1, i);
    if (i == 0 && at != 0) throw invalid_argument("First split value must be 0, got {}", at);
    if (at < before) throw invalid_argument("Invalid split value {}, must be in [{}, {}]", at, before, words);
    if (at > words) throw invalid_argument("Invalid split value {}, must be in [{}, {}]", at, before, words);
    if (i > 0) add_row(state, c.input<std::string>(0) + before, at - before, ngrams);
    ends.push_back(static_cast<int64_t>(ngrams.size()));
    before = at;
  }
  if (splits > 0 && before != words) {
    throw invalid_argument("Last split value must be data size. Expected {}, got {}", words, before);
  }
  for (int64_t i = 0; i < splits; ++i) {
    if (c.dtype(1) == DType::Int32) {
      c.output<int32_t>(1)[i] = static_cast<int32_t>(ends[static_cast<size_t>(i)]);
    } else {
      c.output<int64_t>(1)[i] = ends[static_cast<size_t>(i)];
    }
  }
  c.set_output(0, Tensor(ngrams));
}

}  // namespace

OpDef string_n_grams_op() {
  return {.name = "StringNGrams",
          .inputs = "data:string; data_splits:Tsplits",
          .outputs = "ngrams:string; ngrams_splits:Tsplits",
          .attrs =
              "separator:string; ngram_widths:list(int)>=0; left_pad:string; right_pad:string; pad_width:int; "
              "preserve_short_sequences:bool; Tsplits:type{int32,int64}=int64",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops
