#include <memory>
#include <unordered_map>

#include "graph/declared_ops.h"
#include "graph/op.h"
#include "ops/tables.h"

namespace weir {
namespace {

struct Registry {
  std::vector<const OpDef*> defs;
  std::unordered_map<std::string_view, std::unique_ptr<const Op>> ops;

  Registry() {
    for (const std::vector<OpDef>* table : ops::tables()) {
      for (const OpDef& def : *table) {
        defs.push_back(&def);
        ops.emplace(def.name, std::make_unique<const Op>(parse_op(def)));
      }
    }
  }
};

// Built once from the tables and never changed.
const Registry& registry() {
  static const Registry instance;
  return instance;
}

}  // namespace

const Op* find_op(std::string_view name) {
  const auto& ops = registry().ops;
  auto it = ops.find(name);
  return it == ops.end() ? find_declared_op(name) : it->second.get();
}

const std::vector<const OpDef*>& all_op_defs() { return registry().defs; }

}  // namespace weir
