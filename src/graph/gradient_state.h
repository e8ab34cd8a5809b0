#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_set>

namespace weir {

class GradContext;
class Node;

// What a graph knows of differentiating it. For the building thread only.
struct GradientState {
  // See weir/custom_gradient.h: what new nodes of an operation are differentiated as, and the program's own rules.
  std::map<std::string, std::string> overrides;
  std::map<std::string, std::function<void(GradContext&)>> rules;

  // While gradients() walks: the nodes on its way, so that control flow differentiates no more than that...
  const std::unordered_set<const Node*>* differentiated = nullptr;
  bool colocate = false;  // ... and whether gradients stand beside what they are of
};

}  // namespace weir
