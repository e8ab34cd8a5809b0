#include <re2/re2.h>

#include <memory>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/string_ops.h"

// Regular expressions of RE2, which take time in proportion to the text whatever the pattern.
namespace weir::ops {
namespace {

std::shared_ptr<const RE2> compiled(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  auto result = std::make_shared<const RE2>(pattern, options);
  if (!result->ok()) throw invalid_argument("Invalid pattern: {}, error: {}", pattern, result->error());
  return result;
}

// The expression of a node's attribute, or the last one that an input asked for: runs of the same node may differ.
class Expression {
 public:
  Expression() = default;
  explicit Expression(const std::string& pattern) : now_(compiled(pattern)) {}
  std::shared_ptr<const RE2> of(const std::string& pattern) {
    std::shared_ptr<const RE2> found = std::atomic_load(&now_);
    if (!found || found->pattern() != pattern) {
      found = compiled(pattern);
      std::atomic_store(&now_, found);
    }
    return found;
  }
  const RE2& fixed() const { return *now_; }

 private:
  std::shared_ptr<const RE2> now_;
};

struct State {
  Expression expression;
  std::string rewrite = {};
  bool global = true;
};

State prepare_match(PrepareContext&) { return {}; }
State prepare_replace(PrepareContext& c) { return {.expression = {}, .global = c.attr<bool>("replace_global")}; }
State prepare_static_match(PrepareContext& c) { return {Expression(c.attr<std::string>("pattern"))}; }
State prepare_static_replace(PrepareContext& c) {
  return {Expression(c.attr<std::string>("pattern")), c.attr<std::string>("rewrite"), c.attr<bool>("replace_global")};
}

void infer_with_pattern(InferContext& c) {
  for (int i = 1; i < c.inputs(); ++i) {
    if (c.input(i).has_rank() && !c.input(i).is_scalar()) {
      throw invalid_argument("{} must be scalar, but received {}", i == 1 ? "Pattern" : "Rewrite", c.input(i).str());
    }
  }
  c.set_output(0, c.input(0));
}

void match(KernelContext& c, const RE2& expression) {
  for (int64_t i = 0; i < c.elements(0); ++i) {
    c.output<bool>()[i] = RE2::FullMatch(c.input<std::string>(0)[i], expression);
  }
}

void replace(KernelContext& c, const RE2& expression, const std::string& rewrite) {
  for (int64_t i = 0; i < c.elements(0); ++i) {
    std::string text = c.input<std::string>(0)[i];
    if (c.state<State>().global) {
      RE2::GlobalReplace(&text, expression, rewrite);
    } else {
      RE2::Replace(&text, expression, rewrite);
    }
    c.output<std::string>()[i] = std::move(text);
  }
}

void cpu_match(KernelContext& c) { match(c, *c.state<State>().expression.of(c.input<std::string>(1)[0])); }
void cpu_replace(KernelContext& c) {
  replace(c, *c.state<State>().expression.of(c.input<std::string>(1)[0]), c.input<std::string>(2)[0]);
}
void cpu_static_match(KernelContext& c) { match(c, c.state<State>().expression.fixed()); }
void cpu_static_replace(KernelContext& c) { replace(c, c.state<State>().expression.fixed(), c.state<State>().rewrite); }

}  // namespace

OpDef regex_full_match_op() {
  return {.name = "RegexFullMatch",
          .inputs = "input:string; pattern:string",
          .outputs = "output:bool",
          .infer = infer_with_pattern,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_match>, .prepare = prepared<prepare_match>},
          .host_only = true};
}

OpDef regex_replace_op() {
  return {.name = "RegexReplace",
          .inputs = "input:string; pattern:string; rewrite:string",
          .outputs = "output:string",
          .attrs = "replace_global:bool=True",
          .infer = infer_with_pattern,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_replace>, .prepare = prepared<prepare_replace>},
          .host_only = true};
}

OpDef static_regex_full_match_op() {
  return {.name = "StaticRegexFullMatch",
          .inputs = "input:string",
          .outputs = "output:bool",
          .attrs = "pattern:string",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_static_match>, .prepare = prepared<prepare_static_match>},
          .host_only = true};
}

OpDef static_regex_replace_op() {
  return {.name = "StaticRegexReplace",
          .inputs = "input:string",
          .outputs = "output:string",
          .attrs = "pattern:string; rewrite:string; replace_global:bool=True",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_static_replace>, .prepare = prepared<prepare_static_replace>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

// A pattern that is known when the graph is made is compiled with the plan.
Output regex_full_match(const In& input, const In& pattern, std::string_view name) {
  if (pattern.output()) return NodeBuilder("RegexFullMatch", name).input(input).input(pattern).output();
  return NodeBuilder("StaticRegexFullMatch", name)
      .input(input)
      .attr("pattern", pattern.value().scalar<std::string>())
      .output();
}
Output regex_replace(const In& input, const In& pattern, const In& rewrite, bool replace_global,
                     std::string_view name) {
  if (pattern.output() || rewrite.output()) {
    return NodeBuilder("RegexReplace", name)
        .input(input)
        .input(pattern)
        .input(rewrite)
        .attr("replace_global", replace_global)
        .output();
  }
  return NodeBuilder("StaticRegexReplace", name)
      .input(input)
      .attr("pattern", pattern.value().scalar<std::string>())
      .attr("rewrite", rewrite.value().scalar<std::string>())
      .attr("replace_global", replace_global)
      .output();
}

}  // namespace weir
