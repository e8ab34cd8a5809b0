#include "graph/body_gradients.h"
#include "graph/grad_context.h"
#include "graph/op_def.h"
#include "ops/control/output_shapes.h"

namespace weir::ops {
namespace {

// An If of the branches' gradients with respect to what they read from around them. What the gradient of a branch reads
// of the branch itself becomes an output of the forward If, so that nothing is computed, or drawn at random, twice.
void gradient(GradContext& c) {
  Node& node = *c.op().node();
  Graph& graph = c.graph();
  auto [then_branch, else_branch] = bodies_of(node);
  std::vector<std::pair<size_t, Output>> output_grads;
  for (int i = 0; i < c.outputs(); ++i) {
    if (c.has_output_grad(i)) output_grads.emplace_back(static_cast<size_t>(i), c.raw_output_grad(i).dense());
  }
  std::vector<int> wanted;  // inputs
  std::vector<Output> xs;
  for (int i = 1; i < c.inputs(); ++i) {
    if (!is_differentiated(c.input(i))) continue;
    wanted.push_back(i);
    xs.push_back(c.input(i));
  }

  Body* forward[2] = {then_branch, else_branch};
  Body* backward[2];
  std::vector<Output> grads[2];
  for (int b = 0; b < 2; ++b) {
    backward[b] = &add_body(graph, forward[b]->name + "_grad", false);
    backward[b]->gradient_of = forward[b];
    BodyScope scope(graph, backward[b]);
    std::vector<Output> ys, grad_ys;
    for (const auto& [output, grad] : output_grads) {
      if (!forward[b]->results[output]) continue;
      ys.push_back(forward[b]->results[output]);
      grad_ys.push_back(grad);
    }
    grads[b] = gradients_in_body(*forward[b], ys, grad_ys, xs);
  }
  std::vector<int> given;  // inputs that some branch has a gradient for
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!grads[0][i] && !grads[1][i]) continue;
    given.push_back(wanted[i]);
    for (int b = 0; b < 2; ++b) {
      BodyScope scope(graph, backward[b]);
      backward[b]->results.push_back(grads[b][i] ? grads[b][i] : zero_gradient(xs[i]));
    }
  }
  if (given.empty()) return;
  for (int b = 0; b < 2; ++b) {
    share_shapes(*backward[b], *forward[b]);
    for (const Output& read : forward_reads(*backward[b], *forward[b])) {
      replace_in_body(*backward[b], read, add_if_output(node, *forward[b], read));
    }
  }
  Operation grad = add_if(graph, c.input(0), *backward[0], *backward[1], "If");
  for (size_t i = 0; i < given.size(); ++i) c.set_input_grad(given[i], grad.output(static_cast<int>(i)));
}

constexpr std::string_view kAttrs =
    "Tcond:type; Tin:list(type)>=0; Tout:list(type)>=0; then_branch:func; else_branch:func; "
    "output_shapes:list(shape)=[]";

OpDef row(std::string_view name, std::string_view flags) {
  return {.name = name,
          .inputs = "cond:Tcond; input:Tin",
          .outputs = "output:Tout",
          .attrs = kAttrs,
          .flags = flags,
          .host = "cond",
          .infer = infer_declared_shapes,
          .gradient = gradient,
          .role = Role::Branch};
}

}  // namespace

OpDef if_op() { return row("If", "stateful"); }
OpDef stateless_if_op() { return row("StatelessIf", ""); }

}  // namespace weir::ops
