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

// Averages the gradients of all processes of distributed::init() before they are applied. Each is on its way as soon as
// it is computed, while the backward pass goes on.
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

// Synchronous training with parameter servers (Chen and others, "Revisiting distributed synchronous SGD", 2016):
// gradients of all workers gather in accumulators beside the variables; when there are enough of them their means are
// applied, once, and every worker gets a token with the new step. What was computed for an earlier step is dropped.
// Fewer gradients than workers make the slowest of them backups.
struct SyncReplicasOptions {
  int replicas_to_aggregate = 1;
  int total_num_replicas = 0;  // 0: as many
  Variable global_step = {};   // must be given
  std::string name = "sync_replicas";
};
struct SyncReplicasNodes {
  Operation train;            // a worker's step: gives its gradients, waits for a token
  Operation sync;             // the chief's, again and again: takes gradients, applies them, gives out tokens
  Operation local_step_init;  // once in every session of a worker
  Operation chief_init;       // and of the chief
  Variable local_step;        // which step a worker computes for
  Output token_queue;         // what workers wait for
  Output runner_queue;        // stands for the other one in the runner of `sync`, which would close it for all
};
// `apply` makes the operation that applies averaged gradients and counts the step; `after_sync`, if given, one that
// follows `sync` and stands for it.
WEIR_API SyncReplicasNodes
sync_replicas(const GradsAndVars& grads_and_vars, const SyncReplicasOptions& options,
              const std::function<Operation(const GradsAndVars&, const Variable& global_step)>& apply,
              const std::function<Operation()>& after_sync = {}, In::Where where = In::Where::current());
// Tokens for the first step; run once by the chief. -1: one for each gradient that is needed.
WEIR_API Operation sync_init_tokens(const SyncReplicasNodes& nodes, const SyncReplicasOptions& options, int count = -1);

class WEIR_API SyncReplicas final : public WrappedOptimizer {
 public:
  // Throws InvalidArgument for numbers that make no sense.
  SyncReplicas(Optimizer& inner, const SyncReplicasOptions& options);
  // options.global_step of this call comes before that of the constructor; there must be one.
  Operation apply_gradients(const GradsAndVars& grads_and_vars, const ApplyGradientsOptions& options = {},
                            In::Where where = In::Where::current()) override;
  // These throw FailedPrecondition before apply_gradients.
  const SyncReplicasNodes& nodes() const;
  Operation init_tokens(int count = -1) const { return sync_init_tokens(nodes(), options_, count); }

 private:
  SyncReplicasOptions options_;
  std::optional<SyncReplicasNodes> nodes_;
};

}  // namespace weir::train
