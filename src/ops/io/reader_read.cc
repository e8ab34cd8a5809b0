#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/io/reader.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer_read(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
  c.set_output(0, Shape{});
  c.set_output(1, Shape{});
}

void infer_read_up_to(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
  c.require_scalar(2);
  c.set_output(0, Shape{kUnknown});
  c.set_output(1, Shape{kUnknown});
}

void read(KernelContext& c, Completion done) { c.resource<Reader>(0).read(c.resource<Queue>(1), c, done); }

void read_up_to(KernelContext& c, Completion done) {
  c.resource<Reader>(0).read_up_to(c.resource<Queue>(1), c.scalar<int64_t>(2), c, done);
}

OpDef row(std::string_view name, std::string_view inputs, std::string_view outputs, std::string_view flags,
          std::string_view host, void (*infer)(InferContext&), StartFn (*start)(const NodeView&)) {
  return {.name = name,
          .inputs = inputs,
          .outputs = outputs,
          .flags = flags,
          .host = host,
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.start = start},
          .waits = true};
}

}  // namespace

OpDef reader_read_op() {
  return row("ReaderRead", "reader_handle:Ref(string); queue_handle:Ref(string)", "key:string; value:string", "",
             "key, value", infer_read, start_any<read>);
}
OpDef reader_read_v2_op() {
  return row("ReaderReadV2", "reader_handle:resource; queue_handle:resource", "key:string; value:string", "stateful",
             "key, value", infer_read, start_any<read>);
}
OpDef reader_read_up_to_op() {
  return row("ReaderReadUpTo", "reader_handle:Ref(string); queue_handle:Ref(string); num_records:int64",
             "keys:string; values:string", "", "num_records, keys, values", infer_read_up_to, start_any<read_up_to>);
}
OpDef reader_read_up_to_v2_op() {
  return row("ReaderReadUpToV2", "reader_handle:resource; queue_handle:resource; num_records:int64",
             "keys:string; values:string", "stateful", "num_records, keys, values", infer_read_up_to,
             start_any<read_up_to>);
}

}  // namespace weir::ops
