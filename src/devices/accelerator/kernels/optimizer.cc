#include <array>
#include <string>

#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "graph/op.h"
#include "ops/state/update.h"

namespace weir::accelerator {
namespace {

// What an update does to an element: `body` changes var and the slots by g, the element of the gradient (or of the new
// values), and by the numbers among the inputs. `inputs` names the inputs in their order; var and what follows it up to
// the first one that is none are variables.
struct Rule {
  std::string_view op;  // and "Resource" before it; Assign* and Scatter* have their resource names beside them
  std::string_view resource_op;
  int variables;
  std::string_view inputs;
  std::string_view body;
  bool any_number = false;  // not only floating ones
};

#define WEIR_MOMENTUM \
  "accum = accum * momentum + g; var = var - (NESTEROV ? g * lr + accum * momentum * lr : accum * lr);"
#define WEIR_ADAGRAD "if (UPDATE_SLOTS) accum = accum + g * g; var = var - lr * g / sqrt(accum);"
#define WEIR_RMS \
  "ms = ms + (g * g - ms) * (1 - rho); mom = mom * momentum + lr * g / sqrt(ms + epsilon); var = var - mom;"
#define WEIR_CENTERED                                                   \
  "ms = ms + (g * g - ms) * (1 - rho); mg = mg + (g - mg) * (1 - rho);" \
  "mom = mom * momentum + lr * g / sqrt(ms - mg * mg + epsilon); var = var - mom;"
#define WEIR_ADADELTA                                                                                         \
  "accum = accum * rho + g * g * (1 - rho); T update_ = sqrt(updates + epsilon) / sqrt(accum + epsilon) * g;" \
  "updates = updates * rho + update_ * update_ * (1 - rho); var = var - update_ * lr;"
#define WEIR_FTRL(shrink)                            \
  "T after_ = accum + g * g, root_ = POWER(after_);" \
  "T z_ = linear + (g + 2 * " shrink                 \
  " * var) - (root_ - POWER(accum)) / lr * var;"     \
  "accum = after_; linear = z_;"                     \
  "var = fabs(z_) > l1 ? ((z_ < 0 ? -l1 : l1) - z_) / (root_ / lr + 2 * l2) : (T)0;"
#define WEIR_PROXIMAL(rate)                                            \
  "T p_ = var - g * rate_, s_ = fabs(p_) - rate_ * (l1 > 0 ? l1 : 0);" \
  "var = l1 > 0 ? (s_ > 0 ? (p_ < 0 ? -s_ : s_) : 0) / (1 + l2 * rate_) : p_ / (1 + l2 * rate_);"

constexpr Rule kDense[] = {
    {"AssignAdd", "AssignAddVariableOp", 1, "var grad", "var = var + g;", true},
    {"AssignSub", "AssignSubVariableOp", 1, "var grad", "var = var - g;", true},
    {"ApplyGradientDescent", "ResourceApplyGradientDescent", 1, "var alpha grad", "var = var - alpha * g;"},
    {"ApplyMomentum", "ResourceApplyMomentum", 2, "var accum lr grad momentum", WEIR_MOMENTUM},
    {"ApplyAdam", "ResourceApplyAdam", 3, "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad",
     "m = m + (g - m) * (1 - beta1); v = v + (g * g - v) * (1 - beta2);"
     "T rate_ = lr * sqrt(1 - beta2_power) / (1 - beta1_power);"
     "var = var - (NESTEROV ? g * (1 - beta1) + beta1 * m : m) * rate_ / (sqrt(v) + epsilon);"},
    {"ApplyAdagrad", "ResourceApplyAdagrad", 2, "var accum lr grad", WEIR_ADAGRAD},
    {"ApplyRMSProp", "ResourceApplyRMSProp", 3, "var ms mom lr rho momentum epsilon grad", WEIR_RMS},
    {"ApplyCenteredRMSProp", "ResourceApplyCenteredRMSProp", 4, "var mg ms mom lr rho momentum epsilon grad",
     WEIR_CENTERED},
    {"ApplyAdadelta", "ResourceApplyAdadelta", 3, "var accum updates lr rho epsilon grad", WEIR_ADADELTA},
    {"ApplyFtrl", "ResourceApplyFtrl", 3, "var accum linear grad lr l1 l2 lr_power", WEIR_FTRL("0")},
    {"ApplyFtrlV2", "ResourceApplyFtrlV2", 3, "var accum linear grad lr l1 l2 l2_shrinkage lr_power",
     WEIR_FTRL("l2_shrinkage")},
    {"ApplyProximalGradientDescent", "ResourceApplyProximalGradientDescent", 1, "var alpha l1 l2 grad",
     "T rate_ = alpha;" WEIR_PROXIMAL(alpha)},
    {"ApplyProximalAdagrad", "ResourceApplyProximalAdagrad", 2, "var accum lr l1 l2 grad",
     "accum = accum + g * g; T rate_ = lr / sqrt(accum);" WEIR_PROXIMAL(rate)},
};

constexpr Rule kSparse[] = {
    {"ScatterUpdate", "ResourceScatterUpdate", 1, "var indices grad", "var = g;", true},
    {"ScatterAdd", "ResourceScatterAdd", 1, "var indices grad", "var = var + g;", true},
    {"ScatterSub", "ResourceScatterSub", 1, "var indices grad", "var = var - g;", true},
    {"ScatterMul", "ResourceScatterMul", 1, "var indices grad", "var = var * g;", true},
    {"ScatterDiv", "ResourceScatterDiv", 1, "var indices grad", "var = var / g;"},  // of integers it can fail
    {"ScatterMin", "ResourceScatterMin", 1, "var indices grad", "var = g < var ? g : var;", true},
    {"ScatterMax", "ResourceScatterMax", 1, "var indices grad", "var = g > var ? g : var;", true},
    {"SparseApplyMomentum", "ResourceSparseApplyMomentum", 2, "var accum lr grad indices momentum", WEIR_MOMENTUM},
    {"SparseApplyAdagrad", "ResourceSparseApplyAdagrad", 2, "var accum lr grad indices", WEIR_ADAGRAD},
    {"SparseApplyRMSProp", "ResourceSparseApplyRMSProp", 3, "var ms mom lr rho momentum epsilon grad indices",
     WEIR_RMS},
    {"SparseApplyCenteredRMSProp", "ResourceSparseApplyCenteredRMSProp", 4,
     "var mg ms mom lr rho momentum epsilon grad indices", WEIR_CENTERED},
    {"SparseApplyAdadelta", "ResourceSparseApplyAdadelta", 3, "var accum updates lr rho epsilon grad indices",
     WEIR_ADADELTA},
    {"SparseApplyFtrl", "ResourceSparseApplyFtrl", 3, "var accum linear grad indices lr l1 l2 lr_power",
     WEIR_FTRL("0")},
    {"SparseApplyProximalGradientDescent", "ResourceSparseApplyProximalGradientDescent", 1,
     "var alpha l1 l2 grad indices", "T rate_ = alpha;" WEIR_PROXIMAL(alpha)},
    {"SparseApplyProximalAdagrad", "ResourceSparseApplyProximalAdagrad", 2, "var accum lr l1 l2 grad indices",
     "accum = accum + g * g; T rate_ = lr / sqrt(accum);" WEIR_PROXIMAL(rate)},
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    list.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

bool flag_of(const AttrMap& attrs, std::string_view name, bool otherwise) {
  const AttrValue* value = attrs.find(name);
  return value ? std::get<bool>(*value) : otherwise;
}

struct State {
  KernelRef kernel;
  DType type = DType::Invalid;
  int variables = 1, grad = 0, indices = -1;
};

std::string update_text(const Rule& rule, const AttrMap& attrs, DType type, DType index, bool sparse, State& state) {
  const auto names = words(rule.inputs);
  const auto t = type_text(type);
  std::string parameters, opened, loaded, stored;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (name == "grad") state.grad = static_cast<int>(i);
    if (name == "indices") state.indices = static_cast<int>(i);
    parameters += fmt::format("BUFFER({}, {}_p), ", name == "indices" ? type_text(index) : t, name);
    opened += fmt::format("  OPEN({}, {}_p);\n", name == "indices" ? type_text(index) : t, name);
    if (static_cast<int>(i) < rule.variables) {
      loaded += fmt::format("T {0} = {0}_p[at]; ", name);
      stored += fmt::format("{0}_p[at] = {0}; ", name);
    } else if (name != "grad" && name != "indices") {
      opened += fmt::format("  const T {0} = {0}_p[0];\n", name);
    }
  }
  std::string text = fmt::format("#define T {}\n#define NESTEROV {}\n#define UPDATE_SLOTS {}\n", t,
                                 static_cast<int>(flag_of(attrs, "use_nesterov", false)),
                                 static_cast<int>(flag_of(attrs, "update_slots", true)));
  text += "#define POWER(x) (lr_power == (T)-0.5 ? sqrt(x) : pow(x, -lr_power))\n";
  if (!sparse) {
    return text + fmt::format(
                      "KERNEL(update, {}int n) {{\n{}  FOR_EACH(at, n) {{\n    const T g = grad_p[at]; {}\n    {}\n    "
                      "{}\n  }}\n}}\n",
                      parameters, opened, loaded, rule.body, stored);
  }
  // An item has one column of the rows whose number is its own modulo `parts`, so updates of a row keep their order.
  return text +
         fmt::format(
             "KERNEL(update, {}BUFFER(i32, flag), int n, int count, int width, int parts) {{\n{}  OPEN(i32, flag);\n"
             "  FOR_EACH(i, n) {{\n    const int column = i % width, part = i / width;\n"
             "    if (flag[0] == NOTHING_BAD) {{\n      for (int k = 0; k < count; ++k) {{\n"
             "        const int row = (int)indices_p[k];\n        if (row % parts == part) {{\n"
             "          const int at = row * width + column;\n          const T g = grad_p[k * width + column]; {}\n"
             "          {}\n          {}\n        }}\n      }}\n    }}\n  }}\n}}\n",
             parameters, opened, loaded, rule.body, stored);
}

const Rule& rule_of(std::span<const Rule> rules, std::string_view op) {
  for (const Rule& rule : rules) {
    if (rule.op == op || rule.resource_op == op) return rule;
  }
  throw error(Code::Internal, "no rule for {}", op);
}

DType element_type(const NodeView& node) {
  const AttrValue* type = node.attrs().find("T");
  return std::get<DType>(type ? *type : *node.attrs().find("dtype"));
}

State prepare(PrepareContext& c, std::span<const Rule> rules, bool sparse) {
  const Rule& rule = rule_of(rules, c.node().op().name);
  State state;
  state.type = element_type(c.node());
  state.variables = rule.variables;
  const DType index = sparse ? c.attr<DType>("Tindices") : DType::Int32;
  const std::string text = update_text(rule, c.node().attrs(), state.type, index, sparse, state);
  state.kernel = intern_kernel("update", text);
  return state;
}
State prepare_dense(PrepareContext& c) { return prepare(c, kDense, false); }
State prepare_sparse(PrepareContext& c) { return prepare(c, kSparse, true); }

void update_dense(KernelContext& c) {
  const State& s = c.state<State>();
  ops::update_dense(c, s.type, s.variables, s.grad, [&](void* const* data, int64_t n) {
    if (n == 0) return;
    Launch launch(s.kernel);
    for (int i = 0; i < c.inputs(); ++i) launch.buffer(i < s.variables ? data[i] : c.raw_input(i));
    launch.count(n).items(n);
  });
}

void update_rows(KernelContext& c) {
  const State& s = c.state<State>();
  std::array<VariableState*, VariableState::kMaxTogether> variables{};
  for (int i = 0; i < s.variables; ++i) variables[static_cast<size_t>(i)] = &ops::variable_of(c, i, s.type);
  const std::span<VariableState* const> all(variables.data(), static_cast<size_t>(s.variables));
  const UpdateMode mode = c.node().use_locking().value_or(false) ? UpdateMode::InPlace : UpdateMode::Unlocked;
  VariableState::update_together(all, mode, [&](std::span<Tensor* const> values) {
    const Shape& shape = values[0]->shape();
    Shape wanted = c.shape(s.indices);
    for (int d = 1; d < shape.rank(); ++d) wanted.append(shape[d]);
    for (size_t i = 0; i < values.size(); ++i) {
      if (shape.rank() < 1 || values[i]->shape() != shape || wanted != c.shape(s.grad)) {
        throw invalid_argument("rows of variable '{}' of shape {} cannot be updated with {} at {} indices",
                               all[i]->name(), values[i]->shape().str(), c.shape(s.grad).str(),
                               c.shape(s.indices).str());
      }
    }
    const int64_t count = c.elements(s.indices), rows = shape[0], width = rows > 0 ? shape.elements() / rows : 0;
    if (count == 0) return;
    const void* flag = check_range(c, s.indices, rows,
                                   "indices[{place}] = {value} is not in [0, {limit}): Index {value} at offset {place} "
                                   "in indices is out of range");
    if (width == 0) return;
    constexpr int64_t kItems = 8192;
    const int64_t parts = std::clamp<int64_t>(kItems / width, 1, rows);
    Launch launch(s.kernel);
    for (int i = 0; i < c.inputs(); ++i) {
      launch.buffer(i < s.variables ? values[static_cast<size_t>(i)]->mutable_raw() : c.raw_input(i));
    }
    launch.buffer(flag).count(width * parts).count(count).count(width).count(parts).items(width * parts);
  });
  if (c.outputs() > 0) c.forward_ref(0, 0);
}

bool is_float(const NodeView& node, std::span<const DType>, std::span<const DType>) {
  return is_floating(element_type(node)) && has_type(element_type(node));
}
bool is_number(const NodeView& node, std::span<const DType>, std::span<const DType>) {
  const DType type = element_type(node);
  return has_type(type) && type != DType::Bool;
}

}  // namespace

void intern_update_kernels() {
  for (const bool sparse : {false, true}) {
    for (const Rule& rule : sparse ? std::span<const Rule>(kSparse) : std::span<const Rule>(kDense)) {
      State state;
      intern_kernel("update", update_text(rule, {}, DType::Float32, DType::Int64, sparse, state));
    }
  }
}

std::span<const KernelRow> optimizer_kernels() {
  static const std::vector<KernelRow> rows = [] {
    std::vector<KernelRow> all;
    const Kernel dense = {.select = always<update_dense>, .prepare = prepared<prepare_dense>};
    const Kernel sparse = {.select = always<update_rows>, .prepare = prepared<prepare_sparse>};
    for (const Rule& rule : kDense) {
      for (const auto op : {rule.op, rule.resource_op})
        all.push_back({op, dense, rule.any_number ? is_number : is_float});
    }
    for (const Rule& rule : kSparse) {
      for (const auto op : {rule.op, rule.resource_op})
        all.push_back({op, sparse, rule.any_number ? is_number : is_float});
    }
    return all;
  }();
  return rows;
}

}  // namespace weir::accelerator
