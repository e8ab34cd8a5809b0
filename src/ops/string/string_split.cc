#include <algorithm>
#include <vector>

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
  bool skip_empty;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("skip_empty")}; }

// Calls visit for the pieces between delimiters; without any the pieces are single bytes.
template <class Visit>
void split(std::string_view text, std::string_view delimiters, const Visit& visit) {
  if (delimiters.empty()) {
    for (size_t i = 0; i < text.size(); ++i) visit(text.substr(i, 1));
    return;
  }
  if (text.empty()) return;
  for (size_t begin = 0;;) {
    const size_t end = text.find_first_of(delimiters, begin);
    visit(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return;
    begin = end + 1;
  }
}

void cpu(KernelContext& c) {
  std::vector<int64_t> coordinates;
  std::vector<std::string> pieces;
  const int64_t rows = c.elements(0);
  int64_t widest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t column = 0;
    split(c.input<std::string>(0)[row], c.input<std::string>(1)[0], [&](std::string_view piece) {
      if (piece.empty() && c.state<State>().skip_empty) return;
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

OpDef string_split_op() {
  return {.name = "StringSplit",
          .inputs = "input:string; delimiter:string",
          .outputs = "indices:int64; values:string; shape:int64",
          .attrs = "skip_empty:bool=True",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

SplitStrings string_split(const In& source, const In& delimiter, bool skip_empty, std::string_view name) {
  Operation op = NodeBuilder("StringSplit", name).input(source).input(delimiter).attr("skip_empty", skip_empty).build();
  return {op.output(0), op.output(1), op.output(2)};
}

}  // namespace weir
