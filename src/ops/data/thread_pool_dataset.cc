#include "base/errors.h"
#include "ops/data/dataset.h"

// Threads of TensorFlow's own for a pipeline. The threads of a pipeline here are those that its parallel calls ask for,
// so that a pool is a name and its size.
namespace weir::ops {
namespace {

class NamedThreadPool final : public Resource {
 public:
  explicit NamedThreadPool(std::string name) : name_(std::move(name)) {}
  std::string describe() const override { return "thread pool '" + name_ + "'"; }

 private:
  std::string name_;
};

struct State {
  ResourcePtr<NamedThreadPool> pool;
};

State prepare(PrepareContext& c) {
  if (c.attr<int64_t>("num_threads") <= 0) throw invalid_argument("`num_threads` must be greater than zero.");
  return {c.named_resource<NamedThreadPool>(
      [&](const std::string&) { return make_resource<NamedThreadPool>(c.attr<std::string>("display_name")); })};
}

void give(KernelContext& c) { c.set_resource(0, c.state<State>().pool.get()); }

void use(KernelContext& c) {
  c.resource<NamedThreadPool>(1);
  set_dataset(c, dataset_input(c, 0));
}

}  // namespace

OpDef thread_pool_handle_op() {
  return {.name = "ThreadPoolHandle",
          .outputs = "handle:resource",
          .attrs =
              "num_threads:int; max_intra_op_parallelism:int=1; display_name:string; container:string=''; "
              "shared_name:string=''",
          .flags = "stateful",
          .host = "handle",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<give>, .prepare = prepared<prepare>},
          .host_only = true};
}
OpDef thread_pool_dataset_op() {
  return {.name = "ThreadPoolDataset",
          .inputs = "input_dataset:variant; thread_pool:resource",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .flags = "stateful",
          .host = "input_dataset, thread_pool, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<use>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
