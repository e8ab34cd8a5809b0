#include <atomic>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/queue/batcher.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  ResourcePtr<Batcher> batcher;
};

State prepare(PrepareContext& c) {
  const BatchLimits limits = batch_limits(c);
  return {c.named_resource<Batcher>([&](const std::string&) { return make_resource<Batcher>(limits); })};
}

// No rows of what a tensor has.
Tensor no_rows(const Tensor& like) {
  Shape shape = like.shape();
  shape.set_dim(0, 0);
  return Tensor(like.dtype(), shape);
}

// The first run of a batch goes on with all rows, and with who brought which of them; the others go on with none. Each
// knows its number, by which Unbatch gives its rows back.
void give(const Batch& batch, const BatchLimits& limits) {
  static std::atomic<int64_t> made{1};
  int64_t rows = 0;
  Tensor places(DType::Int64, {static_cast<int64_t>(batch.size()), 3});
  auto* place = static_cast<int64_t*>(places.mutable_raw());
  for (const auto& task : batch) {
    *place++ = made++;
    *place++ = rows;
    *place++ = rows += task->rows;
  }
  const int count = static_cast<int>(batch[0]->inputs.size());
  const int64_t padded = rows == 0 ? 0 : limits.padded(rows);
  for (size_t t = 0; t < batch.size(); ++t) {
    KernelContext& c = batch[t]->context;
    for (int i = 0; i < count; ++i) {
      const auto input = static_cast<size_t>(i);
      c.set_output(i, t == 0 ? joined_rows(batch, input, padded) : no_rows(batch[t]->inputs[input]));
    }
    c.set_output(count, t == 0 ? places : Tensor(DType::Int64, {0, 3}));
    c.set_output(count + 1, Tensor(places.data<int64_t>()[3 * t]));
  }
}

void start(KernelContext& c, Completion done) {
  const ResourcePtr<Batcher> batcher = c.state<State>().batcher;
  std::unique_ptr<BatchTask> task = batch_task(c, done, 0, c.inputs());
  task->process = [limits = batcher->limits()](Batch batch) {
    try {
      give(batch, limits);
    } catch (...) {
      fail_all(batch);
      return;
    }
    for (const auto& each : batch) each->done();
  };
  batcher->add(std::move(task), c.node().attr<std::string>("batching_queue"));
}

void infer(InferContext& c) {
  for (int i = 0; i < c.inputs(); ++i) {
    const Shape& shape = c.input(i);
    c.require_min_rank(i, 1);
    if (!shape.has_rank()) continue;
    Shape rows = shape;
    rows.set_dim(0, kUnknown);
    c.set_output(i, rows);
  }
  c.set_output(c.inputs(), Shape{kUnknown, 3});
  c.set_output(c.inputs() + 1, Shape{});
}

// Every run gets back the gradients of its own rows.
void gradient(GradContext& c) {
  const int count = c.inputs();
  for (int i = 0; i < count; ++i) {
    if (!c.has_output_grad(i)) continue;
    const std::string name = fmt::format("batch_gradient_{}_{}", c.op().name(), i);
    c.set_input_grad(
        i, c.graph()
               .add({.op = "Unbatch",
                     .inputs = {c.raw_output_grad(i).dense(), c.output(count), c.output(count + 1)},
                     .attrs = {{"timeout_micros", c.attr<int64_t>("grad_timeout_micros")}, {"shared_name", name}}})
               .output());
  }
}

}  // namespace

OpDef batch_op() {
  return {.name = "Batch",
          .inputs = "in_tensors:T",
          .outputs = "batched_tensors:T; batch_index:int64; id:int64",
          .attrs =
              "num_batch_threads:int; max_batch_size:int; max_enqueued_batches:int=10; batch_timeout_micros:int; "
              "allowed_batch_sizes:list(int)=[]; grad_timeout_micros:int; container:string=''; "
              "shared_name:string=''; batching_queue:string=''; T:list(type)>=1",
          .host = "in_tensors, batched_tensors, batch_index, id",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.start = start_any<start>, .prepare = prepared<prepare>},
          .waits = true,
          .host_only = true};
}

}  // namespace weir::ops
