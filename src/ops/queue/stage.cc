#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/queue/staging_area.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  ResourcePtr<StagingArea> area;
};

State prepare(PrepareContext& c) {
  const StagingLimits limits{c.attr<int64_t>("capacity"), c.attr<int64_t>("memory_limit")};
  return {
      c.named_resource<StagingArea>([&](const std::string& name) { return make_resource<StagingArea>(name, limits); })};
}

StagingArea& area(KernelContext& c) { return *c.state<State>().area; }

void put(KernelContext& c, Completion done) {
  StagingArea::Row row;
  for (int i = 0; i < c.inputs(); ++i) row.push_back(c.input_tensor(i));
  area(c).put(std::move(row), c, done);
}
void get(KernelContext& c, Completion done) { area(c).get(c, done); }
void peek(KernelContext& c, Completion done) { area(c).peek(c.scalar<int32_t>(0), c, done); }
void size(KernelContext& c) { *c.output<int32_t>() = static_cast<int32_t>(area(c).size()); }
void clear(KernelContext& c) { area(c).clear(); }

void infer_any(InferContext&) {}  // of whatever shape was put in
void infer_peek(InferContext& c) { c.require_scalar(0); }

// The staging area has no handle: operations of the same shared_name mean the same one.
OpDef row(std::string_view name, Kernel cpu) {
  cpu.prepare = prepared<prepare>;
  return {.name = name,
          .attrs =
              "capacity:int>=0=0; memory_limit:int>=0=0; dtypes:list(type)>=1; container:string=''; "
              "shared_name:string=''",
          .flags = "stateful",
          .gradient = not_differentiable,
          .cpu = cpu,
          .waits = cpu.start != nullptr};
}
constexpr std::string_view kAnyTypes =
    "capacity:int>=0=0; memory_limit:int>=0=0; dtypes:list(type); container:string=''; shared_name:string=''";

}  // namespace

OpDef stage_op() {
  OpDef def = row("Stage", {.start = start_any<put>});
  def.inputs = "values:dtypes";
  def.host = "values";
  return def;
}
OpDef unstage_op() {
  OpDef def = row("Unstage", {.start = start_any<get>});
  def.outputs = "values:dtypes";
  def.infer = infer_any;
  def.host = "values";
  return def;
}
OpDef stage_peek_op() {
  OpDef def = row("StagePeek", {.start = start_any<peek>});
  def.inputs = "index:int32";
  def.outputs = "values:dtypes";
  def.host = "index, values";
  def.infer = infer_peek;
  return def;
}
OpDef stage_size_op() {
  OpDef def = row("StageSize", {.select = kernel_any<size>});
  def.outputs = "size:int32";
  def.attrs = kAnyTypes;
  def.host = "size";
  def.infer = infer::scalar;
  return def;
}
OpDef stage_clear_op() {
  OpDef def = row("StageClear", {.select = kernel_any<clear>});
  def.attrs = kAnyTypes;
  return def;
}

}  // namespace weir::ops
