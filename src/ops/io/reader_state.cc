#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/io/reader.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  for (int i = 0; i < c.inputs(); ++i) c.require_scalar(i);
  for (int i = 0; i < c.outputs(); ++i) c.set_output(i, Shape{});
}

void records_produced(KernelContext& c) { *c.output<int64_t>() = c.resource<Reader>(0).records_produced(); }
void work_units_completed(KernelContext& c) { *c.output<int64_t>() = c.resource<Reader>(0).work_units_completed(); }
void reset(KernelContext& c) { c.resource<Reader>(0).reset(); }
void serialize(KernelContext& c) { *c.output<std::string>() = c.resource<Reader>(0).serialize_state(); }
void restore(KernelContext& c) { c.resource<Reader>(0).restore_state(c.scalar<std::string>(1)); }

// Each in its two forms: with a reference, and with a resource.
OpDef row(std::string_view name, bool is_resource, std::string_view outputs, ComputeFn (*select)(const NodeView&),
          Effect effect) {
  return {.name = name,
          .inputs = is_resource ? "reader_handle:resource" : "reader_handle:Ref(string)",
          .outputs = outputs,
          .flags = is_resource ? "stateful" : "",
          .host = outputs.substr(0, outputs.find(':')),
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select},
          .effect = effect};
}

OpDef restore_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .flags = flags,
          .host = "state",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<restore>}};
}

}  // namespace

OpDef reader_num_records_produced_op() {
  return row("ReaderNumRecordsProduced", false, "records_produced:int64", kernel_any<records_produced>, Effect::Reads);
}
OpDef reader_num_records_produced_v2_op() {
  return row("ReaderNumRecordsProducedV2", true, "records_produced:int64", kernel_any<records_produced>, Effect::Reads);
}
OpDef reader_num_work_units_completed_op() {
  return row("ReaderNumWorkUnitsCompleted", false, "units_completed:int64", kernel_any<work_units_completed>,
             Effect::Reads);
}
OpDef reader_num_work_units_completed_v2_op() {
  return row("ReaderNumWorkUnitsCompletedV2", true, "units_completed:int64", kernel_any<work_units_completed>,
             Effect::Reads);
}
OpDef reader_reset_op() { return row("ReaderReset", false, "", kernel_any<reset>, Effect::FromSignature); }
OpDef reader_reset_v2_op() { return row("ReaderResetV2", true, "", kernel_any<reset>, Effect::FromSignature); }
OpDef reader_serialize_state_op() {
  return row("ReaderSerializeState", false, "state:string", kernel_any<serialize>, Effect::Reads);
}
OpDef reader_serialize_state_v2_op() {
  return row("ReaderSerializeStateV2", true, "state:string", kernel_any<serialize>, Effect::Reads);
}
OpDef reader_restore_state_op() {
  return restore_row("ReaderRestoreState", "reader_handle:Ref(string); state:string", "");
}
OpDef reader_restore_state_v2_op() {
  return restore_row("ReaderRestoreStateV2", "reader_handle:resource; state:string", "stateful");
}

}  // namespace weir::ops
