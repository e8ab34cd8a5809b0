#include <fmt/core.h>

#include <algorithm>

#include "command.h"
#include "devices/accelerator/table.h"
#include "graph/op.h"
#include "graph/op_def.h"

namespace weir::tool {
namespace {

const char* gradient_of(const OpDef& def) {
  return def.gradient == nullptr ? "none" : def.gradient == not_differentiable ? "none flows" : "yes";
}

// By what, or why there is no kernel of its own: passes and plans do the work.
const char* computed_by(const OpDef& def) {
  if (def.cpu.select || def.cpu.start) return accelerator::has_row(def.name) ? "CPU and GPUs" : "CPU alone";
  return def.alias >= 0 ? "nothing is computed" : "plans";
}

std::string signature(const OpDef& def) { return fmt::format("{}({}) -> ({})", def.name, def.inputs, def.outputs); }

void print(const OpDef& def) {
  fmt::print("{}\n", signature(def));
  if (!def.attrs.empty()) fmt::print("  attributes  {}\n", def.attrs);
  if (!def.flags.empty()) fmt::print("  flags       {}\n", def.flags);
  if (!def.host.empty()) fmt::print("  on the host {}\n", def.host);
  fmt::print("  computed by {}\n  gradient    {}\n", computed_by(def), gradient_of(def));
}

std::vector<const OpDef*> public_rows() {
  std::vector<const OpDef*> rows;
  for (const OpDef* def : all_op_defs()) {
    if (!def->name.starts_with("_")) rows.push_back(def);
  }
  std::ranges::sort(rows, {}, [](const OpDef* def) { return def->name; });
  return rows;
}

std::string in_a_cell(std::string_view text) {
  std::string cell;
  for (char ch : text) cell += ch == '|' ? std::string("\\|") : std::string(1, ch);
  return cell.empty() ? cell : "`" + cell + "`";
}

void print_table() {
  const auto rows = public_rows();
  fmt::print(
      "# Operations\n\n"
      "{} operations, with TensorFlow 1.15's names and signatures. This page is what `weir ops --markdown` prints; "
      "`weir ops NAME` shows one. [conformance.md](conformance.md) tells how each compares with TensorFlow's, and what "
      "is "
      "different on purpose.\n\n"
      "\"Gradient\": yes; none (asking for it is an error, as in TensorFlow); or none flows (the operation is constant "
      "by "
      "nature).\n\n"
      "| Operation | Inputs | Outputs | Attributes | Gradient |\n|---|---|---|---|---|\n",
      rows.size());
  for (const OpDef* def : rows) {
    fmt::print("| {} | {} | {} | {} | {} |\n", def->name, in_a_cell(def->inputs), in_a_cell(def->outputs),
               in_a_cell(def->attrs), gradient_of(*def));
  }
}

int ops(std::span<const std::string> arguments) {
  const Arguments parsed = parse_arguments(arguments, {}, {"--cpu-alone", "--markdown"});
  if (parsed.has("--markdown")) {
    if (!parsed.positional.empty()) throw UsageError("--markdown prints all operations");
    print_table();
    return 0;
  }
  if (parsed.positional.empty()) {
    for (const OpDef* def : public_rows()) {
      if (parsed.has("--cpu-alone") && computed_by(*def) != std::string_view("CPU alone")) continue;
      fmt::print("{}\n", signature(*def));
    }
    return 0;
  }
  int status = 0;
  for (const std::string& name : parsed.positional) {
    if (const Op* op = find_op(name)) {
      print(*op->def);
    } else {
      fmt::print(stderr, "weir ops: there is no operation '{}'\n", name);
      status = 1;
    }
  }
  return status;
}

}  // namespace

const Command kOps = {
    .name = "ops",
    .usage = "[NAME ...] [--cpu-alone] [--markdown]",
    .summary = "Lists the operations, or shows some: signature, attributes, gradient",
    .help =
        "Without a name every operation is a line: its inputs and outputs with their types.\n\n"
        "  --cpu-alone  only those that GPUs leave to the CPU\n"
        "  --markdown   the table of docs/operations.md\n\n"
        "Examples:\n  weir ops Conv2D\n  weir ops | grep FFT\n",
    .run = ops,
};

}  // namespace weir::tool
