#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/control/call.h"
#include "ops/data/dataset.h"
#include "ops/queue/batcher.h"
#include "ops/run_control.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// Calls made while no run waits alone: of the thread that processes a batch.
class BatchedCalls final : public Resource {
 public:
  BatchedCalls(ResourcePtr<Batcher> b, ResourcePtr<NodeFunctions> f, std::stop_token closed, std::string function)
      : batcher(std::move(b)), functions(std::move(f)), closed_(std::move(closed)), function_(std::move(function)) {
    control_.program = &closed_;
    control_.stop = closed_;
  }
  std::string describe() const override { return "calls of '" + function_ + "' in batches"; }

  void process(Batch batch) {
    try {
      call(batch);
    } catch (...) {
      fail_all(batch);
      return;
    }
    for (const auto& task : batch) task->done();
  }

  const ResourcePtr<Batcher> batcher;
  const ResourcePtr<NodeFunctions> functions;

 private:
  void call(const Batch& batch) {
    int64_t rows = 0;
    for (const auto& task : batch) rows += task->rows;
    const int64_t padded = rows == 0 ? 0 : batcher->limits().padded(rows);
    KernelContext& first = batch[0]->context;
    std::vector<Tensor> arguments;
    for (size_t i = 0; i < batch[0]->inputs.size(); ++i) arguments.push_back(joined_rows(batch, i, padded));
    const int count = static_cast<int>(arguments.size());
    for (Tensor& captured : call_arguments(first, count, first.inputs() - count))
      arguments.push_back(std::move(captured));
    GraphFunction& function = (*functions)->find(function_);
    const auto& types = first.node().attr<std::vector<DType>>("Tout");
    if (function.results() != types.size()) {
      throw invalid_argument("Incorrect number of batched output tensors: {} and not {}", function.results(),
                             types.size());
    }
    std::vector<Tensor> results(types.size());
    function.call(arguments, results, control_);
    for (size_t i = 0; i < results.size(); ++i) give(batch, static_cast<int>(i), results[i], types[i], padded);
  }

  static void give(const Batch& batch, int output, const Tensor& result, DType type, int64_t rows) {
    if (result.dtype() != type) {
      throw invalid_argument("result {} of the function is {}; {} is wanted", output, dtype_name(result.dtype()),
                             dtype_name(type));
    }
    if (result.shape().rank() == 0) throw error(Code::FailedPrecondition, "Batched output tensor has 0 dimensions");
    if (result.shape()[0] != rows) {
      throw error(
          Code::FailedPrecondition,
          "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input "
          "tensors");
    }
    int64_t at = 0;
    for (const auto& task : batch) {
      task->context.set_output(output, shared_rows(result, at, at + task->rows));
      at += task->rows;
    }
  }

  const std::stop_token closed_;
  const std::string function_;
  RunControl control_;
};

struct State {
  ResourcePtr<BatchedCalls> calls;
};

State prepare(PrepareContext& c) {
  const BatchLimits limits = batch_limits(c);
  auto batcher = c.named_resource<Batcher>([&](const std::string&) { return make_resource<Batcher>(limits); });
  CallState call = prepare_call(c);
  return {c.node_resource<BatchedCalls>([&] {
    return make_resource<BatchedCalls>(batcher, call.functions, c.functions()->closed(),
                                       c.attr<FunctionName>("f").name);
  })};
}

void start(KernelContext& c, Completion done) {
  const ResourcePtr<BatchedCalls>& calls = c.state<State>().calls;
  const auto count = c.node().attr<std::vector<DType>>("Tin").size();
  std::unique_ptr<BatchTask> task = batch_task(c, done, 0, static_cast<int>(count));
  task->process = [calls](Batch batch) { calls->process(std::move(batch)); };
  calls->batcher->add(std::move(task), c.node().attr<std::string>("batching_queue"));
}

void infer(InferContext&) {}  // only the function knows

}  // namespace

OpDef batch_function_op() {
  return {.name = "BatchFunction",
          .inputs = "in_tensors:Tin; captured_tensors:Tcaptured",
          .outputs = "out_tensors:Tout",
          .attrs =
              "f:func; num_batch_threads:int; max_batch_size:int; batch_timeout_micros:int; "
              "max_enqueued_batches:int=10; allowed_batch_sizes:list(int)=[]; container:string=''; "
              "shared_name:string=''; batching_queue:string=''; Tin:list(type)>=1; Tcaptured:list(type)>=0; "
              "Tout:list(type)>=1",
          .host = "in_tensors, captured_tensors, out_tensors",
          .infer = infer,
          .cpu = {.start = start_any<start>, .prepare = prepared<prepare>},
          .waits = true,
          .host_only = true};
}

}  // namespace weir::ops
