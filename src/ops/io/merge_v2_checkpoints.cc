#include <set>

#include "base/errors.h"
#include "io/tensor_bundle.h"
#include "ops/io/checkpoint_inputs.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 1);
  c.require_scalar(1);
}

bool prepare(PrepareContext& c) { return c.attr<bool>("delete_old_dirs"); }

void cpu(KernelContext& c) {
  const auto prefixes = strings(c, 0);
  const auto& destination = c.scalar<std::string>(1);
  io::merge_bundles(prefixes, destination);
  if (!c.state<bool>()) return;
  std::set<std::string> directories;
  for (const std::string& prefix : prefixes) directories.insert(io::parent_directory(prefix));
  directories.erase(io::parent_directory(destination));
  for (const std::string& directory : directories) {
    try {
      io::remove_empty_directory(directory);
    } catch (const Error&) {
      // Somebody else keeps a file there; the checkpoint is whole all the same.
    }
  }
}

}  // namespace

OpDef merge_v2_checkpoints_op() {
  return {.name = "MergeV2Checkpoints",
          .inputs = "checkpoint_prefixes:string; destination_prefix:string",
          .attrs = "delete_old_dirs:bool=True",
          .flags = "stateful",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops
