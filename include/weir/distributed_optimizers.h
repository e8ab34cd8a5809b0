#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weir/collectives.h"
#include "weir/export.h"
#include "weir/queue_ops.h"
#include "weir/train.h"

namespace weir::train {

// An optimizer that other processes take part in: what it does by itself, it leaves to the one that it is made of.
class WEIR_API WrappedOptimizer : public Optimizer {
 public:
  GradsAndVars compute_gradients(const Output& loss, const ComputeGradientsOptions& options = {},
                                 In::Where where = In::Where::current()) override;
  Operation apply_gradients(const GradsAndVars& grads_and_vars, const ApplyGradientsOptions& options = {},
                            In::Where where = In::Where::current()) override;
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse_duplicate_indices(const IndexedSlices& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;
  Operation finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) override;

 protected:
  // `inner` must outlive this one.
  WrappedOptimizer(Optimizer& inner, std::string_view name) : Optimizer(name), inner_(inner) {}
  Optimizer& inner() const { return inner_; }

 private:
  Optimizer& inner_;
};

// Averages the gradients of all processes of distributed::init() before they are applied. Each is on its way as soon as it
// is computed, while the backward pass goes on.
struct DistributedOptimizerOptions {
  distributed::Reduction reduction = distributed::Reduction::Average;
  bool sparse_as_dense = false;  // gradients of rows become whole ones, and are averaged as such
  std::string_view name = {};    // empty: "Distributed" and the optimizer's name
  std::string_view group = {};   // of processes; empty: all
};
class WEIR_API DistributedOptimizer final : public WrappedOptimizer {
 public:
  explicit DistributedOptimizer(Optimizer& inner, const DistributedOptimizerOptions& options = {});
  GradsAndVars compute_gradients(const Output& loss, const ComputeGradientsOptions& options = {},
                                 In::Where where = In::Where::current()) override;

 private:
  const distributed::Reduction reduction_;
  const bool sparse_as_dense_;
  const std::string group_;
};

}  // namespace weir::train
