#include "ops/data/iterator.h"

namespace weir::ops {
namespace {

struct State {
  std::shared_ptr<FunctionRunner> runner;
};

State prepare(PrepareContext& c) { return {c.functions()}; }

void infer(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
}

void cpu(KernelContext& c) { c.resource<IteratorResource>(1).initialize(dataset_input(c, 0), c.state<State>().runner); }

}  // namespace

OpDef make_iterator_op() {
  return {.name = "MakeIterator",
          .inputs = "dataset:variant; iterator:resource",
          .flags = "stateful",
          .host = "dataset, iterator",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .effect = Effect::Other,
          .host_only = true};
}

}  // namespace weir::ops
