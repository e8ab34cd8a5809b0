#include "ops/loop_part.h"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "graph/op.h"

namespace weir {
namespace {

using Kind = LoopPart::Kind;
using cpu::ReduceFn;

struct Row {
  std::string_view op;
  LoopPart body;
};
constexpr Row kRows[] = {
    {"BiasAddGrad", {Kind::ReduceRows, ReduceFn::Sum}},
    {"BroadcastTo", {Kind::Spread}},
    {"L2Loss", {Kind::ReduceAll, ReduceFn::SumSquares, 0.5f}},
    {"Max", {Kind::Reduce, ReduceFn::Max}},
    {"Mean", {Kind::Reduce, ReduceFn::Mean}},
    {"Min", {Kind::Reduce, ReduceFn::Min}},
    {"Prod", {Kind::Reduce, ReduceFn::Prod}},
    {"Softmax", {Kind::Softmax}},
    {"Sum", {Kind::Reduce, ReduceFn::Sum}},
    {"Tile", {Kind::Spread}},
};

constexpr std::pair<std::string_view, Source> kSources[] = {
    {"BatchMatMul", Source::Product}, {"BatchMatMulV2", Source::Product}, {"MatMul", Source::Product},
    {"StridedSlice", Source::Slice},  {"Transpose", Source::Permute},     {"StridedSliceGrad", Source::Unslice},
};

std::unordered_map<const Op*, LoopPart> by_op() {
  std::unordered_map<const Op*, LoopPart> bodies;
  for (const Row& row : kRows) bodies[find_op(row.op)] = row.body;
  return bodies;
}

}  // namespace

const LoopPart& loop_part(const Op& op) {
  static const std::unordered_map<const Op*, LoopPart> bodies = by_op();
  static const LoopPart none;
  const auto at = bodies.find(&op);
  return at == bodies.end() ? none : at->second;
}

Source source_of(const Op& op) {
  static const std::unordered_map<const Op*, Source> sources = [] {
    std::unordered_map<const Op*, Source> found;
    for (const auto& [name, source] : kSources) found[find_op(name)] = source;
    return found;
  }();
  const auto at = sources.find(&op);
  return at == sources.end() ? Source::Other : at->second;
}

}  // namespace weir
