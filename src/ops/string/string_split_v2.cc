#include <algorithm>
#include <vector>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 1);
  c.require_scalar(1);
  c.set_output(0, Shape{kUnknown, 2});
  c.set_output(1, Shape{kUnknown});
  c.set_output(2, Shape{2});
}

struct State {
  int64_t most;  // cuts; none or a negative number: as many as there are
};

State prepare(PrepareContext& c) { return {c.attr<int64_t>("maxsplit")}; }

constexpr std::string_view kSpace = " \t\n\v\f\r";

std::string_view without_leading_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text;
}

// Python's str.split: by runs of white space when there is no separator.
template <class Visit>
void split(std::string_view text, std::string_view separator, int64_t most, const Visit& visit) {
  const bool by_space = separator.empty();
  if (by_space) text = without_leading_space(text);
  for (int64_t cuts = 0; !by_space || !text.empty(); ++cuts) {
    const size_t end = by_space ? text.find_first_of(kSpace) : text.find(separator);
    if ((most > 0 && cuts == most) || end == std::string_view::npos) return visit(text);
    visit(text.substr(0, end));
    text.remove_prefix(by_space ? end : end + separator.size());
    if (!by_space) continue;
    text = without_leading_space(text);
    // A cut that was the last one allowed leaves a piece, even an empty one.
    if (most > 0 && cuts + 1 == most) return visit(text);
  }
}

void cpu(KernelContext& c) {
  std::vector<int64_t> coordinates;
  std::vector<std::string> pieces;
  const int64_t rows = c.elements(0);
  int64_t widest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t column = 0;
    split(c.input<std::string>(0)[row], c.input<std::string>(1)[0], c.state<State>().most, [&](std::string_view piece) {
      coordinates.insert(coordinates.end(), {row, column++});
      pieces.emplace_back(piece);
    });
    widest = std::max(widest, column);
  }
  c.output<int64_t>(2)[0] = rows;
  c.output<int64_t>(2)[1] = widest;
  c.set_output(1, Tensor(pieces));
  c.set_output(0, Tensor(coordinates).reshaped(Shape{static_cast<int64_t>(pieces.size()), 2}));
}

}  // namespace

OpDef string_split_v2_op() {
  return {.name = "StringSplitV2",
          .inputs = "input:string; sep:string",
          .outputs = "indices:int64; values:string; shape:int64",
          .attrs = "maxsplit:int=-1",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

SplitStrings string_split_v2(const In& input, const In& sep, int64_t maxsplit, std::string_view name) {
  Operation op = NodeBuilder("StringSplitV2", name).input(input).input(sep).attr("maxsplit", maxsplit).build();
  return {op.output(0), op.output(1), op.output(2)};
}

}  // namespace weir
