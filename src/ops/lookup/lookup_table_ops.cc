#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/lookup/lookup_table.h"

// What can be done with a table.
namespace weir::ops {
namespace {

LookupTable& table_of(const KernelContext& c) { return c.resource<LookupTable>(0); }

void infer_nothing(InferContext& c) { c.require_scalar(0); }

// As many values as keys.
void infer_pairs(InferContext& c) {
  c.require_scalar(0);
  const Shape &keys = c.input(1), &values = c.input(2);
  if (keys.rank() < 1 || values.rank() < 1 || keys[0] == kUnknown || values[0] == kUnknown) return;
  if (keys[0] != values[0]) throw invalid_argument("{} keys for {} values", keys.str(), values.str());
}

void find(KernelContext& c) { c.set_output(0, table_of(c).find(c.input_view(1), c.input_view(2))); }
void insert(KernelContext& c) { table_of(c).insert(c.input_view(1), c.input_view(2)); }
void import(KernelContext& c) { table_of(c).import(c.input_view(1), c.input_view(2)); }
void remove(KernelContext& c) { table_of(c).remove(c.input_view(1)); }
void initialize(KernelContext& c) {
  if (c.shape(1).rank() != 1)
    throw invalid_argument("keys must be a vector, but received tensor of shape {}", c.shape(1).str());
  if (!(c.shape(1) == c.shape(2))) {
    throw invalid_argument("keys and values do not have the same number of elements: {} vs {}", c.elements(1),
                           c.elements(2));
  }
  table_of(c).initialize(c.input_view(1), c.input_view(2));
}
void size(KernelContext& c) { *c.output<int64_t>() = table_of(c).size(); }
void export_all(KernelContext& c) {
  const DType keys_type = c.node().type("Tkeys"), values_type = c.node().type("Tvalues");
  table_of(c).check_types(keys_type, values_type);
  auto [keys, values] = table_of(c).export_all();
  c.set_output(0, std::move(keys));
  c.set_output(1, std::move(values));
}

void infer_size(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape{});
}

void infer_export(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape::unknown());
  c.set_output(1, Shape::unknown());
}

constexpr std::string_view kRef = "table_handle:Ref(string)", kHandle = "table_handle:resource";

OpDef pairs_row(std::string_view name, std::string_view inputs, std::string_view attrs, std::string_view flags,
                Kernel cpu) {
  return {.name = name,
          .inputs = inputs,
          .attrs = attrs,
          .flags = flags,
          .infer = inputs.find("values") == std::string_view::npos ? infer_nothing : infer_pairs,
          .gradient = not_differentiable,
          .cpu = cpu};
}

OpDef find_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "values:Tout",
          .attrs = "Tin:type; Tout:type",
          .flags = flags,
          .infer = infer_nothing,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<find>},
          .effect = Effect::Reads};
}

OpDef size_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "size:int64",
          .flags = flags,
          .infer = infer_size,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<size>},
          .effect = Effect::Reads};
}

OpDef export_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "keys:Tkeys; values:Tvalues",
          .attrs = "Tkeys:type; Tvalues:type",
          .flags = flags,
          .infer = infer_export,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<export_all>},
          .effect = Effect::Reads};
}

constexpr std::string_view kInOut = "Tin:type; Tout:type", kKeyValue = "Tkey:type; Tval:type";
constexpr std::string_view kRefPairs = "table_handle:Ref(string); keys:Tin; values:Tout";
constexpr std::string_view kPairs = "table_handle:resource; keys:Tin; values:Tout";

}  // namespace

OpDef lookup_table_find_op() {
  return find_row("LookupTableFind", "table_handle:Ref(string); keys:Tin; default_value:Tout", "");
}
OpDef lookup_table_find_v2_op() {
  return find_row("LookupTableFindV2", "table_handle:resource; keys:Tin; default_value:Tout", "stateful");
}
OpDef lookup_table_insert_op() {
  return pairs_row("LookupTableInsert", kRefPairs, kInOut, "", {.select = kernel_any<insert>});
}
OpDef lookup_table_insert_v2_op() {
  return pairs_row("LookupTableInsertV2", kPairs, kInOut, "stateful", {.select = kernel_any<insert>});
}
OpDef lookup_table_import_op() {
  return pairs_row("LookupTableImport", kRefPairs, kInOut, "", {.select = kernel_any<import>});
}
OpDef lookup_table_import_v2_op() {
  return pairs_row("LookupTableImportV2", kPairs, kInOut, "stateful", {.select = kernel_any<import>});
}
OpDef lookup_table_remove_v2_op() {
  return pairs_row("LookupTableRemoveV2", "table_handle:resource; keys:Tin", "Tin:type", "stateful",
                   {.select = kernel_any<remove>});
}
OpDef initialize_table_op() {
  return pairs_row("InitializeTable", "table_handle:Ref(string); keys:Tkey; values:Tval", kKeyValue, "",
                   {.select = kernel_any<initialize>});
}
OpDef initialize_table_v2_op() {
  return pairs_row("InitializeTableV2", "table_handle:resource; keys:Tkey; values:Tval", kKeyValue, "stateful",
                   {.select = kernel_any<initialize>});
}
OpDef lookup_table_size_op() { return size_row("LookupTableSize", kRef, ""); }
OpDef lookup_table_size_v2_op() { return size_row("LookupTableSizeV2", kHandle, "stateful"); }
OpDef lookup_table_export_op() { return export_row("LookupTableExport", kRef, ""); }
OpDef lookup_table_export_v2_op() { return export_row("LookupTableExportV2", kHandle, "stateful"); }

}  // namespace weir::ops
