#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/queue/staging_area.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  ResourcePtr<StagingMap> map;
};

// TensorFlow's unordered map gives any key where the ordered one gives the smallest; both are one here.
State prepare(PrepareContext& c) {
  const StagingLimits limits{c.attr<int64_t>("capacity"), c.attr<int64_t>("memory_limit")};
  State state{
      c.named_resource<StagingMap>([&](const std::string& name) { return make_resource<StagingMap>(name, limits); })};
  state.map->expect_components(c.attr<std::vector<DType>>("dtypes").size());
  return state;
}

StagingMap& map(KernelContext& c) { return *c.state<State>().map; }

std::vector<int32_t> indices(KernelContext& c, int input) {
  return {c.input<int32_t>(input), c.input<int32_t>(input) + c.elements(input)};
}

void put(KernelContext& c, Completion done) {
  StagingMap::Row values;
  for (int i = 2; i < c.inputs(); ++i) values.push_back(c.input_tensor(i));
  map(c).put(c.scalar<int64_t>(0), indices(c, 1), std::move(values), c, done);
}
void pop(KernelContext& c, Completion done) { map(c).pop(c.scalar<int64_t>(0), indices(c, 1), c, done); }
void pop_any(KernelContext& c, Completion done) { map(c).pop({}, indices(c, 0), c, done); }
void peek(KernelContext& c, Completion done) { map(c).peek(c.scalar<int64_t>(0), indices(c, 1), c, done); }
void size(KernelContext& c) { *c.output<int32_t>() = static_cast<int32_t>(map(c).size()); }
void incomplete_size(KernelContext& c) { *c.output<int32_t>() = static_cast<int32_t>(map(c).incomplete_size()); }
void clear(KernelContext& c) { map(c).clear(); }

void infer_keyed(InferContext& c) {
  c.require_scalar(0);
  c.require_rank(1, 1);
}
void infer_any(InferContext& c) {
  c.require_rank(0, 1);
  c.set_output(0, Shape{});
}

constexpr std::string_view kPutAttrs =
    "capacity:int>=0=0; memory_limit:int>=0=0; dtypes:list(type); fake_dtypes:list(type)>=1; container:string=''; "
    "shared_name:string=''";
constexpr std::string_view kTakeAttrs =
    "capacity:int>=0=0; memory_limit:int>=0=0; dtypes:list(type)>=1; container:string=''; shared_name:string=''";
constexpr std::string_view kOtherAttrs =
    "capacity:int>=0=0; memory_limit:int>=0=0; dtypes:list(type); container:string=''; shared_name:string=''";

OpDef put_row(std::string_view name) {
  return {.name = name,
          .inputs = "key:int64; indices:int32; values:fake_dtypes",
          .attrs = kPutAttrs,
          .flags = "stateful",
          .host = "key, indices, values",
          .infer = infer_keyed,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<put>, .prepare = prepared<prepare>},
          .waits = true};
}
OpDef take_row(std::string_view name, StartFn (*start)(const NodeView&), bool keyed) {
  return {.name = name,
          .inputs = keyed ? "key:int64; indices:int32" : "indices:int32",
          .outputs = keyed ? "values:dtypes" : "key:int64; values:dtypes",
          .attrs = kTakeAttrs,
          .flags = "stateful",
          .host = "key, indices, values",
          .infer = keyed ? infer_keyed : infer_any,
          .gradient = not_differentiable,
          .cpu = {.start = start, .prepare = prepared<prepare>},
          .waits = true};
}
OpDef size_row(std::string_view name, ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .outputs = "size:int32",
          .attrs = kOtherAttrs,
          .flags = "stateful",
          .host = "size",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = select, .prepare = prepared<prepare>}};
}
OpDef clear_row(std::string_view name) {
  return {.name = name,
          .attrs = kOtherAttrs,
          .flags = "stateful",
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<clear>, .prepare = prepared<prepare>}};
}

}  // namespace

OpDef map_stage_op() { return put_row("MapStage"); }
OpDef map_unstage_op() { return take_row("MapUnstage", start_any<pop>, true); }
OpDef map_unstage_no_key_op() { return take_row("MapUnstageNoKey", start_any<pop_any>, false); }
OpDef map_peek_op() { return take_row("MapPeek", start_any<peek>, true); }
OpDef map_size_op() { return size_row("MapSize", kernel_any<size>); }
OpDef map_incomplete_size_op() { return size_row("MapIncompleteSize", kernel_any<incomplete_size>); }
OpDef map_clear_op() { return clear_row("MapClear"); }
OpDef ordered_map_stage_op() { return put_row("OrderedMapStage"); }
OpDef ordered_map_unstage_op() { return take_row("OrderedMapUnstage", start_any<pop>, true); }
OpDef ordered_map_unstage_no_key_op() { return take_row("OrderedMapUnstageNoKey", start_any<pop_any>, false); }
OpDef ordered_map_peek_op() { return take_row("OrderedMapPeek", start_any<peek>, true); }
OpDef ordered_map_size_op() { return size_row("OrderedMapSize", kernel_any<size>); }
OpDef ordered_map_incomplete_size_op() { return size_row("OrderedMapIncompleteSize", kernel_any<incomplete_size>); }
OpDef ordered_map_clear_op() { return clear_row("OrderedMapClear"); }

}  // namespace weir::ops
