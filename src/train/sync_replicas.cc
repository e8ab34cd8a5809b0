#include "base/errors.h"
#include "graph/graph_impl.h"
#include "weir/distributed_optimizers.h"
#include "weir/ops.h"

namespace weir::train {
namespace {

// A place where the gradients of one variable gather.
struct Accumulated {
  Operation give;      // this worker's
  Gradient mean;       // of enough of them
  Operation set_step;  // for the chief's beginning
};

Output as_step(const Output& step) { return step.dtype() == int64 ? step : cast(step, int64); }

Accumulated accumulate(Graph& graph, const Gradient& gradient, const Variable& variable, const Output& local_step,
                       const Output& global_step, int required) {
  const bool sparse = gradient.sparse();
  const DType dtype = sparse ? gradient.slices().values.dtype() : gradient.dense().dtype();
  const std::string prefix = sparse ? "" : "Resource";
  const Output handle = NodeBuilder(sparse ? "SparseConditionalAccumulator" : "ResourceConditionalAccumulator",
                                    sparse ? "sparse_conditional_accumulator" : "conditional_accumulator")
                            .graph(graph)
                            .attr("dtype", dtype)
                            .attr("shape", sparse ? Shape::unknown() : variable.shape())
                            .attr("shared_name", variable.handle().name() + "/grad_accum")
                            .output();
  Accumulated result;
  if (sparse) {
    const IndexedSlices& slices = gradient.slices();
    const bool shaped = static_cast<bool>(slices.dense_shape);
    auto wide = [](const Output& x) { return x.dtype() == int64 ? x : cast(x, int64); };
    result.give = NodeBuilder("SparseAccumulatorApplyGradient")
                      .input(handle)
                      .input(as_step(local_step))
                      .input(wide(slices.indices))
                      .input(slices.values)
                      .input(shaped ? wide(slices.dense_shape) : graph.constant(Tensor(int64, Shape{0})))
                      .attr("has_known_shape", shaped)
                      .build();
    const Operation taken =
        NodeBuilder("SparseAccumulatorTakeGradient").input(handle).input(required).attr("dtype", dtype).build();
    result.mean = IndexedSlices{taken.output(1), taken.output(0), taken.output(2)};
  } else {
    result.give = NodeBuilder("ResourceAccumulatorApplyGradient")
                      .input(handle)
                      .input(as_step(local_step))
                      .input(gradient.dense())
                      .build();
    const Output taken =
        NodeBuilder("ResourceAccumulatorTakeGradient").input(handle).input(required).attr("dtype", dtype).output();
    taken.set_shape(variable.shape());
    result.mean = taken;
  }
  result.set_step = NodeBuilder(prefix + "AccumulatorSetGlobalStep", "SetGlobalStep")
                        .input(handle)
                        .input(as_step(global_step))
                        .build();
  return result;
}

int tokens_per_step(const SyncReplicasOptions& options) {
  return std::max(options.replicas_to_aggregate, options.total_num_replicas);
}

}  // namespace

SyncReplicasNodes sync_replicas(const GradsAndVars& grads_and_vars, const SyncReplicasOptions& options,
                                const std::function<Operation(const GradsAndVars&, const Variable&)>& apply,
                                const std::function<Operation()>& after_sync, In::Where where) {
  if (!options.global_step) throw invalid_argument("Global step is required to check staleness");
  const Variable& step = options.global_step;
  Graph& graph = step.graph();
  LineScope line(graph, source_line(where));
  SyncReplicasNodes nodes;
  {
    // Beside an operation of the worker, so that a device function for variables does not send it to a server.
    const Operation anchor = NodeBuilder("NoOp").graph(graph).build();
    Scope beside = graph.colocate_with(anchor);
    nodes.local_step = graph.variable("sync_rep_local_step", graph.constant(Literal(0), step.dtype()),
                                      {.trainable = false, .collections = {"local_variables"}});
  }
  nodes.local_step_init = assign(nodes.local_step, read_variable(step)).op();

  const std::string& step_device = step.handle().op().device();
  GradsAndVars means;
  std::vector<Operation> given, chief_init = {nodes.local_step_init};
  {
    Scope scope = graph.name_scope(options.name);
    for (const auto& [gradient, variable] : grads_and_vars) {
      if (!gradient) {
        means.emplace_back(Gradient(), variable);
        continue;
      }
      Scope device = graph.device(variable.handle().op().device());
      const Accumulated accumulated = accumulate(graph, gradient, variable, read_variable(nodes.local_step),
                                                 read_variable(step), options.replicas_to_aggregate);
      given.push_back(accumulated.give);
      chief_init.push_back(accumulated.set_step);
      means.emplace_back(accumulated.mean, variable);
    }
  }
  Scope device = graph.device(step_device);
  Scope root = graph.name_scope("");
  const Operation update = apply(means, step);
  const FifoQueue tokens(graph, {step.dtype()}, {.shapes = {Shape{}}, .shared_name = "sync_token_q"}, "sync_token_q");
  const FifoQueue runner(graph, {int32}, {.capacity = 1, .shapes = {Shape{}}, .shared_name = "dummy_queue"},
                         "dummy_queue");
  nodes.token_queue = tokens.handle();
  nodes.runner_queue = runner.handle();
  {
    Scope after = graph.control_dependencies(given);
    const Output token = tokens.dequeue()[0];
    nodes.train = assign(nodes.local_step, token).op();
  }
  {
    Scope after = graph.control_dependencies({update});
    nodes.sync = tokens.enqueue_many({fill({tokens_per_step(options)}, read_variable(step))});
  }
  if (after_sync) {
    Scope after = graph.control_dependencies({nodes.sync});
    nodes.sync = after_sync();
  }
  nodes.chief_init = graph.group(chief_init);
  return nodes;
}

Operation sync_init_tokens(const SyncReplicasNodes& nodes, const SyncReplicasOptions& options, int count) {
  const int total = options.total_num_replicas > 0 ? options.total_num_replicas : options.replicas_to_aggregate;
  const int needed = options.replicas_to_aggregate - total;
  if (count == -1) count = options.replicas_to_aggregate;
  if (count < needed) {
    throw invalid_argument("Too few tokens to finish the first step: {} (given) vs {} (needed)", count, needed);
  }
  Graph& graph = options.global_step.graph();
  Scope device = graph.device(options.global_step.handle().op().device());
  Scope root = graph.name_scope("");
  if (count <= 0) return NodeBuilder("NoOp", "no_init_tokens").graph(graph).build();
  const QueueBase tokens(nodes.token_queue);
  return tokens.enqueue_many({fill({count}, read_variable(options.global_step))});
}

SyncReplicas::SyncReplicas(Optimizer& inner, const SyncReplicasOptions& options)
    : WrappedOptimizer(inner, options.name), options_(options) {
  if (options.replicas_to_aggregate < 1 || options.total_num_replicas < 0) {
    throw invalid_argument("{} gradients of {} replicas make no sense", options.replicas_to_aggregate,
                           options.total_num_replicas);
  }
}

Operation SyncReplicas::apply_gradients(const GradsAndVars& grads_and_vars, const ApplyGradientsOptions& options,
                                        In::Where where) {
  if (options.global_step) options_.global_step = *options.global_step;
  auto apply = [&](const GradsAndVars& means, const Variable& step) {
    return inner().apply_gradients(means, {.global_step = step, .after_update = options.after_update}, where);
  };
  nodes_ = sync_replicas(grads_and_vars, options_, apply, {}, where);
  return nodes_->train;
}

const SyncReplicasNodes& SyncReplicas::nodes() const {
  if (!nodes_) throw error(Code::FailedPrecondition, "Should be called after apply_gradients().");
  return *nodes_;
}

}  // namespace weir::train
