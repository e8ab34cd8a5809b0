#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// Control flow. The functions that are passed in are called once, while the graph is built; the nodes that they make
// run when, and as often as, the predicate says. They may read any tensor from around them, which is computed in any
// case. A variable made inside is made outside, once.

// What `then` gives when the scalar `predicate` is true, and what `otherwise` gives when it is not. Both must give the
// same number of tensors, of the same types; throws InvalidArgument.
WEIR_API Output cond(const In& predicate, const std::function<Output()>& then, const std::function<Output()>& otherwise,
                     std::string_view name = {});
WEIR_API std::vector<Output> cond(const In& predicate, const std::function<std::vector<Output>()>& then,
                                  const std::function<std::vector<Output>()>& otherwise, std::string_view name = {});
// Runs one of two operations.
WEIR_API Operation cond(const In& predicate, const std::function<Operation()>& then,
                        const std::function<Operation()>& otherwise, std::string_view name = {});

struct CaseOptions {
  bool exclusive = false;  // fail when more than one predicate is true
  std::string_view name = {};
};
using Case = std::pair<Output, std::function<Output()>>;
// What the first case with a true predicate gives. Without a default, one of the predicates must be true.
WEIR_API Output case_(const std::vector<Case>& cases, const std::function<Output()>& otherwise = {},
                      const CaseOptions& options = {}, In::Where where = In::Where::current());

struct WhileOptions {
  std::vector<Shape> shape_invariants =
      {};  // one for every variable: what holds in all iterations; none: no size changes
  std::optional<In> maximum_iterations = {};
  int64_t parallel_iterations = 10;  // kept for TensorFlow; iterations run one after the other
  bool back_prop = true;             // false: no gradient flows through the loop, which then keeps nothing for it
  std::string_view name = {};
};
using LoopCondition = std::function<Output(const std::vector<Output>&)>;
using LoopBody = std::function<std::vector<Output>(const std::vector<Output>&)>;
// Repeats `body` on the loop variables while `condition` of them is true, and gives their last values. Throws
// InvalidArgument when the body gives another number of tensors, another type, or a shape that contradicts the
// invariant.
WEIR_API std::vector<Output> while_loop(const LoopCondition& condition, const LoopBody& body, const InList& initial,
                                        const WhileOptions& options = {});

}  // namespace weir
