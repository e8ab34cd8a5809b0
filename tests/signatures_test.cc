// Compares every row of every operation table with TensorFlow 1.15's own registry, recorded in
// tests/data/ops-1.15.5.tsv as (op, inputs, outputs, attrs, flags); operations that tf.contrib brings along, in
// tests/data/ops-contrib-1.15.5.tsv; Horovod's, with defaults for what its first releases did not have, more types and
// an attribute of Weir's own (group), in tests/data/ops-horovod.tsv.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/op.h"

namespace weir {
namespace {

using Columns = std::vector<std::string>;

std::map<std::string, Columns> read_table() {
  std::map<std::string, Columns> rows;
  for (const char* path :
       {"/tests/data/ops-1.15.5.tsv", "/tests/data/ops-contrib-1.15.5.tsv", "/tests/data/ops-horovod.tsv"}) {
    std::ifstream file(std::string(WEIR_SOURCE_DIR) + path);
    for (std::string line; std::getline(file, line);) {
      Columns columns(1);
      for (char c : line) {
        if (c == '\t') {
          columns.emplace_back();
        } else {
          columns.back() += c;
        }
      }
      columns.resize(5);
      rows[columns[0]] = columns;
    }
  }
  return rows;
}

std::string describe(const ArgSpec& arg) {
  std::string text = arg.name + ":";
  if (arg.is_ref) text += "Ref ";
  if (!arg.number_attr.empty()) text += arg.number_attr + "*";
  return text + (arg.type_attr.empty() ? arg.type_list_attr : arg.type_attr) +
         (arg.type == DType::Invalid ? "" : std::string(dtype_name(arg.type)));
}

// The order of allowed types and strings means nothing; that of inputs and outputs does.
std::string describe(const AttrSpec& attr) {
  std::string text = attr.name + ":" + attr_kind_name(attr.kind, attr.is_list);
  std::set<std::string> allowed(attr.allowed_strings.begin(), attr.allowed_strings.end());
  for (DType type : attr.allowed_types) allowed.emplace(dtype_name(type));
  for (const std::string& value : allowed) text += " " + value;
  if (attr.minimum) text += " >=" + std::to_string(*attr.minimum);
  if (attr.default_value) {  // the table does not say the values of tensors
    text += " =" + (attr.kind == AttrKind::Tensor ? "tensor" : attr_to_string(*attr.default_value));
  }
  return text;
}

template <class T>
std::vector<std::string> describe(const std::vector<T>& specs) {
  std::vector<std::string> texts;
  for (const T& spec : specs) texts.push_back(describe(spec));
  return texts;
}

std::vector<std::string> sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST(Signatures, EveryRowIsTensorFlows) {
  std::map<std::string, Columns> table = read_table();
  ASSERT_GT(table.size(), 1000u);
  ASSERT_FALSE(all_op_defs().empty());
  for (const OpDef* def : all_op_defs()) {
    if (def->name.starts_with('_')) continue;  // internal operations, which no GraphDef of TensorFlow names
    SCOPED_TRACE(std::string(def->name));
    auto row = table.find(std::string(def->name));
    if (row == table.end()) {
      ADD_FAILURE() << "TensorFlow has no such operation";
      continue;
    }
    const Columns& columns = row->second;
    OpDef recorded{
        .name = columns[0], .inputs = columns[1], .outputs = columns[2], .attrs = columns[3], .flags = columns[4]};
    Op theirs = parse_op(recorded), ours = parse_op(*def);
    EXPECT_EQ(describe(ours.inputs), describe(theirs.inputs));
    EXPECT_EQ(describe(ours.outputs), describe(theirs.outputs));
    EXPECT_EQ(sorted(describe(ours.attrs)), sorted(describe(theirs.attrs)));
    EXPECT_EQ(ours.stateful, theirs.stateful);
    EXPECT_EQ(ours.commutative, theirs.commutative);
    EXPECT_EQ(ours.aggregate, theirs.aggregate);
    EXPECT_EQ(ours.uninitialized_input, theirs.uninitialized_input);
  }
}

TEST(Signatures, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const OpDef* def : all_op_defs()) EXPECT_TRUE(names.insert(def->name).second) << def->name;
}

TEST(Signatures, EveryRowCanBeRun) {
  for (const OpDef* def : all_op_defs()) {
    bool flow = def->name.ends_with("If") || def->name.ends_with("While");  // the plan runs them itself
    bool view = def->alias >= 0, constant = def->name == "Const" || def->name == "Placeholder";
    EXPECT_TRUE(view || constant || flow || def->cpu.select || def->cpu.start)
        << def->name << " has neither kernel nor alias";
    EXPECT_TRUE(def->infer || def->outputs.empty()) << def->name << " has no shape function";
  }
}

}  // namespace
}  // namespace weir
