#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/state/variable_state.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  std::shared_ptr<ResourceManager> resources;
  bool ignore_lookup_error;
};

State prepare(PrepareContext& c) { return {c.shared_resources(), c.attr<bool>("ignore_lookup_error")}; }

void infer(InferContext& c) { c.require_scalar(0); }

// Whoever asks for the name after this run gets a new resource, and those who hold this one keep it. A variable loses
// its value and stays where it is: one without a value is the same as none, and a later step of this run that assigns
// it makes it again for everybody.
bool destroy(Resource& resource, ResourceManager& resources) {
  if (auto* variable = dynamic_cast<VariableState*>(&resource)) return variable->clear();
  return resources.remove(resource);
}

void cpu(KernelContext& c) {
  const State& state = c.state<State>();
  auto& resource = c.resource<Resource>(0);
  if (!destroy(resource, *state.resources) && !state.ignore_lookup_error) {
    throw not_found("Resource {} does not exist.", resource.describe());
  }
}

}  // namespace

OpDef destroy_resource_op() {
  return {.name = "DestroyResourceOp",
          .inputs = "resource:resource",
          .attrs = "ignore_lookup_error:bool=True",
          .flags = "stateful",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
