#pragma once

#include <utility>
#include <vector>

#include "weir/graph.h"

namespace weir {

// Scopes that end in the order opposite to that of their beginnings, as each puts back what it found: a vector would
// end the first of them first, and the last would put back what that one had put in place.
class ScopeStack {
 public:
  ScopeStack() = default;
  ScopeStack(const ScopeStack&) = delete;
  ScopeStack& operator=(const ScopeStack&) = delete;
  ~ScopeStack() {
    while (!scopes_.empty()) scopes_.pop_back();
  }
  void push(Scope scope) { scopes_.push_back(std::move(scope)); }

 private:
  std::vector<Scope> scopes_;
};

}  // namespace weir
