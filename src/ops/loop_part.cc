#include "ops/loop_part.h"

#include <string_view>
#include <unordered_map>

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

}  // namespace weir
