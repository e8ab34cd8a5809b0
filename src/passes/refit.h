#pragma once

#include <memory>
#include <vector>

#include "passes/ir.h"

namespace weir {

// Works the shapes of a finished Ir out again for feeds of other shapes, so that a plan is made once and fitted often.
// The rewrites stay as they are: what they relied on is checked (Ir::equal_shapes, equal_values, the number of every
// value's dimensions, whether shapes and values are known). Only nodes with an input that differs are looked at again.
// Immutable; thread-safe. Nodes of the Ir that rewrites left behind are still asked for their shapes, so it is kept.
class Refit {
 public:
  explicit Refit(std::shared_ptr<const Ir> ir);

  bool is_empty() const { return order_.empty(); }  // nothing varies
  size_t nodes() const { return ir_->nodes.size(); }

  // What differs from the Ir.
  class Facts {
   public:
    bool differs(const IrEdge& edge) const { return at(edge) >= 0; }
    const Shape& shape(const IrEdge& edge) const { return differs(edge) ? changed(edge).shape : ir_->shape(edge); }
    const Tensor& value(const IrEdge& edge) const {
      const int value = differs(edge) ? changed(edge).value : -1;
      return value >= 0 ? values_[static_cast<size_t>(value)]
                        : (*ir_)[edge.node].values[static_cast<size_t>(edge.output)];
    }

   private:
    friend class Refit;
    struct Changed {
      Shape shape;
      int value = -1;  // in values_; -1: not known, as it was
    };
    int at(const IrEdge& edge) const {
      const int first = first_[static_cast<size_t>(edge.node)];
      return first < 0 ? -1 : first + edge.output;
    }
    const Changed& changed(const IrEdge& edge) const { return changed_[static_cast<size_t>(at(edge))]; }

    const Ir* ir_ = nullptr;
    std::vector<int> first_;  // node -> its first entry of changed_, or -1
    std::vector<Changed> changed_;
    std::vector<Tensor> values_;
  };

  // Nothing when the plan does not fit these feeds: another has to be made, which also tells what is wrong with them.
  std::unique_ptr<Facts> run(std::span<const Shape* const> feeds, ThreadPool& pool) const;

 private:
  bool infer(const IrNode& node, int id, Facts& facts, ThreadPool& pool, InputFacts& inputs) const;
  bool holds(const Facts& facts) const;

  std::shared_ptr<const Ir> ir_;
  std::vector<int> order_;  // nodes that vary and that the plan or a check asks for, producers first
};

}  // namespace weir
