#pragma once

#include "graph/op_def.h"
#include "ops/list/tensor_array_state.h"

namespace weir::ops {

// An operation on arrays has three versions, which differ in what a handle is: a reference to two strings, two strings,
// or a resource. `inputs` are the operation's with the handle in front.
struct ArrayVersion {
  std::string_view name, inputs, flags = "";
};

// The rest of a row, completed for one version.
inline OpDef array_row(const ArrayVersion& version, OpDef def) {
  def.name = version.name;
  def.inputs = version.inputs;
  def.flags = version.flags;
  def.cpu.prepare = prepared<prepare_run_handles>;
  // What a handle of strings names cannot be told from the signature.
  if (version.inputs.starts_with("handle:string") && !version.flags.starts_with("stateful"))
    def.effect = Effect::Checks;
  return def;
}

}  // namespace weir::ops
