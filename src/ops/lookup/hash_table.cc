#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/lookup/lookup_table.h"

// The operations that name tables.
namespace weir::ops {
namespace {

using Kind = LookupTable::Kind;

struct State {
  ResourcePtr<LookupTable> table;
};

State make(PrepareContext& c, LookupTable::Options options) {
  options.key_type = c.attr<DType>("key_dtype");
  options.value_type = c.attr<DType>("value_dtype");
  State state{c.named_resource<LookupTable>([&](const std::string& name) {
    options.name = name;
    return make_resource<LookupTable>(options);
  })};
  state.table->check_types(options.key_type, options.value_type);
  return state;
}

State prepare_fixed(PrepareContext& c) { return make(c, {.kind = Kind::Fixed, .name = {}}); }
State prepare_mutable(PrepareContext& c) { return make(c, {.kind = Kind::Mutable, .name = {}}); }

Shape value_shape_of(const AttrMap& attrs) {
  const Shape& shape = attrs.get<Shape>("value_shape");
  if (!shape.is_known()) throw invalid_argument("value_shape must be known; got {}", shape.str());
  return shape;
}

State prepare_of_tensors(PrepareContext& c) {
  const Shape shape = value_shape_of(c.node().attrs());
  if (shape.rank() != 1) throw invalid_argument("Default value must be a vector, got shape {}", shape.str());
  return make(c, {.kind = Kind::Mutable, .name = {}, .value_shape = shape});
}

State prepare_dense(PrepareContext& c) {
  return make(c, {.kind = Kind::Dense,
                  .name = {},
                  .value_shape = value_shape_of(c.node().attrs()),
                  .buckets = c.attr<int64_t>("initial_num_buckets"),
                  .max_load = static_cast<double>(c.attr<float>("max_load_factor"))});
}

void cpu(KernelContext& c) { c.set_resource(0, c.state<State>().table.get()); }

void cpu_dense(KernelContext& c) {
  LookupTable& table = *c.state<State>().table;
  table.set_apart(c.input_view(0), c.inputs() > 1 ? c.input_view(1) : Tensor());
  c.set_resource(0, &table);
}

// Tables keep plain elements: numbers, truth values and text.
template <ComputeFn Fn>
ComputeFn select(const NodeView& node) {
  for (std::string_view name : {"key_dtype", "value_dtype"}) {
    const DType dtype = node.type(name);
    if (dtype == DType::Resource || dtype_size(dtype) == 0) return nullptr;
  }
  return Fn;
}

constexpr std::string_view kHandleRef = "table_handle:Ref(string)", kHandle = "table_handle:resource";
constexpr std::string_view kAttrs =
    "container:string=''; shared_name:string=''; use_node_name_sharing:bool=False; key_dtype:type; value_dtype:type";
constexpr std::string_view kTensorAttrs =
    "container:string=''; shared_name:string=''; use_node_name_sharing:bool=False; key_dtype:type; value_dtype:type; "
    "value_shape:shape=[]";
constexpr std::string_view kDenseAttrs =
    "container:string=''; shared_name:string=''; use_node_name_sharing:bool=False; key_dtype:type; value_dtype:type; "
    "value_shape:shape=[]; initial_num_buckets:int=131072; max_load_factor:float=0.800000011920929";

OpDef row(std::string_view name, std::string_view inputs, std::string_view outputs, std::string_view attrs,
          Kernel cpu) {
  return {.name = name,
          .inputs = inputs,
          .outputs = outputs,
          .attrs = attrs,
          .flags = "stateful",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = cpu};
}

}  // namespace

OpDef hash_table_op() {
  return row("HashTable", "", kHandleRef, kAttrs, {.select = select<cpu>, .prepare = prepared<prepare_fixed>});
}
OpDef hash_table_v2_op() {
  return row("HashTableV2", "", kHandle, kAttrs, {.select = select<cpu>, .prepare = prepared<prepare_fixed>});
}
OpDef mutable_hash_table_op() {
  return row("MutableHashTable", "", kHandleRef, kAttrs, {.select = select<cpu>, .prepare = prepared<prepare_mutable>});
}
OpDef mutable_hash_table_v2_op() {
  return row("MutableHashTableV2", "", kHandle, kAttrs, {.select = select<cpu>, .prepare = prepared<prepare_mutable>});
}
OpDef mutable_hash_table_of_tensors_op() {
  return row("MutableHashTableOfTensors", "", kHandleRef, kTensorAttrs,
             {.select = select<cpu>, .prepare = prepared<prepare_of_tensors>});
}
OpDef mutable_hash_table_of_tensors_v2_op() {
  return row("MutableHashTableOfTensorsV2", "", kHandle, kTensorAttrs,
             {.select = select<cpu>, .prepare = prepared<prepare_of_tensors>});
}
OpDef mutable_dense_hash_table_op() {
  return row("MutableDenseHashTable", "empty_key:key_dtype", kHandleRef, kDenseAttrs,
             {.select = select<cpu_dense>, .prepare = prepared<prepare_dense>});
}
OpDef mutable_dense_hash_table_v2_op() {
  return row("MutableDenseHashTableV2", "empty_key:key_dtype; deleted_key:key_dtype", kHandle, kDenseAttrs,
             {.select = select<cpu_dense>, .prepare = prepared<prepare_dense>});
}

}  // namespace weir::ops
