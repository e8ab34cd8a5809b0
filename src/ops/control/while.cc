#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "graph/body_gradients.h"
#include "graph/grad_context.h"
#include "graph/op_def.h"
#include "ops/control/output_shapes.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

constexpr std::string_view kIterations = "_iterations";  // which output of a While counts its iterations

// Of a body's parameters, those that gradients of some of its results can flow to.
std::vector<bool> influences(const Body& body, const std::vector<bool>& results) {
  std::vector<bool> found(body.parameters.size(), false);
  std::set<std::pair<const Node*, int>> seen;
  std::vector<Output> todo;
  auto look_at = [&](const Output& output) {
    if (!carries_gradient(output.dtype())) return;
    auto parameter = std::find(body.parameters.begin(), body.parameters.end(), output);
    if (parameter != body.parameters.end()) {
      found[static_cast<size_t>(parameter - body.parameters.begin())] = true;
    } else if (seen.emplace(output.node(), output.index()).second) {
      todo.push_back(output);
    }
  };
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] && body.results[i]) look_at(body.results[i]);
  }
  while (!todo.empty()) {
    const Output output = todo.back();
    const Node* node = output.node();
    todo.pop_back();
    if (!is_if(*node->op)) {
      for (const Output& input : node->inputs) look_at(input);
      continue;
    }
    // A branch may read what this output of its If does not depend on.
    std::vector<bool> wanted(node->output_types.size(), false);
    wanted[static_cast<size_t>(output.index())] = true;
    auto [then_branch, else_branch] = bodies_of(*node);
    for (const Body* branch : {then_branch, else_branch}) {
      const std::vector<bool> needed = influences(*branch, wanted);
      for (size_t i = 0; i < needed.size(); ++i) {
        if (needed[i]) look_at(node->inputs[i + 1]);
      }
    }
  }
  return found;
}

Output element_shape(Graph& graph, const Output& element) {
  const Shape& shape = element.shape();
  if (!shape.has_rank()) return graph.constant(-1, int32, "element_shape");
  std::vector<int32_t> dims;
  for (int64_t dim : shape.dims()) dims.push_back(static_cast<int32_t>(std::in_range<int32_t>(dim) ? dim : kUnknown));
  return graph.constant(Tensor(dims), "element_shape");
}

// The loop that computes the gradient of a loop, going through its iterations from the last to the first. What it reads
// of an iteration comes from lists, which become further variables of the forward loop.
class LoopGradient {
 public:
  explicit LoopGradient(GradContext& c)
      : c_(c),
        graph_(c.graph()),
        node_(*c.op().node()),
        forward_(*bodies_of(node_).second),
        count_(forward_.results.size()) {}

  void run() {
    choose();
    give_zeros();
    if (std::none_of(xs_.begin(), xs_.end(),
                     [&](size_t i) { return is_differentiated(c_.input(static_cast<int>(i))); })) {
      return;
    }
    if (node_.attrs.has(kIsLoopGradient)) {
      throw Error(Code::Unimplemented, "Second-order gradient for while loops not supported.", node_.op->name,
                  node_.name, node_.line, Fault::Type);
    }
    const std::string name = forward_.name + "_grad";
    condition_ = &add_body(graph_, name + "_cond", true);
    body_ = &add_body(graph_, name + "_body", true);
    body_->gradient_of = &forward_;
    Output left = add_variable(iterations(), Shape{}, "counter");
    {
      BodyScope scope(graph_, condition_);
      condition_->results = {greater(condition_->parameters[0], 0)};
    }
    set_result(0, [&] { return left - 1; });

    std::vector<Output> ys, grad_ys, xs;
    for (size_t i : carried_) {
      Output initial = c_.has_output_grad(static_cast<int>(i)) ? c_.raw_output_grad(static_cast<int>(i)).dense()
                                                               : zero_gradient(c_.output(static_cast<int>(i)));
      grad_ys.push_back(add_variable(initial, forward_.parameters[i].shape(), "grad"));
      ys.push_back(forward_.results[i]);
    }
    for (size_t i : xs_) xs.push_back(forward_.parameters[i]);
    std::vector<Output> grads;
    {
      BodyScope scope(graph_, body_);
      grads = gradients_in_body(forward_, ys, grad_ys, xs);
    }
    std::vector<std::pair<size_t, size_t>> given;  // input of the forward loop, output of this one
    for (size_t k = 0; k < xs_.size(); ++k) {
      const size_t i = xs_[k];
      auto carried = std::find(carried_.begin(), carried_.end(), i);
      if (carried != carried_.end()) {
        const size_t at = 1 + static_cast<size_t>(carried - carried_.begin());
        set_result(at, [&] { return grads[k] ? grads[k] : zero_gradient(forward_.parameters[i]); });
        given.emplace_back(i, at);
      } else if (grads[k]) {
        add_sum(i, grads[k]);
      }
    }
    share_shapes(*body_, forward_);
    for (const Output& read : forward_reads(*body_, forward_)) read_from_list(read);

    Operation grad = add_while(graph_, initial_, *condition_, *body_, {.is_gradient = true});
    for (auto [input, output] : given) {
      if (is_differentiated(c_.input(static_cast<int>(input)))) {
        c_.set_input_grad(static_cast<int>(input), grad.output(static_cast<int>(output)));
      }
    }
    for (const Sum& sum : sums_) c_.set_input_grad(static_cast<int>(sum.input), total(sum, grad));
  }

 private:
  // A gradient of something that all iterations read, and that is therefore summed over them: by the loop, and after
  // it.
  struct Sum {
    size_t input = 0;                          // of the forward loop
    std::optional<size_t> added = {};          // the variable that the loop adds up
    std::vector<const Node*> products = {};    // whose sum is one product of what
    std::vector<std::vector<size_t>> of = {};  // these variables have gathered of their inputs
  };

  bool is_invariant(size_t i) const { return forward_.results[i] == forward_.parameters[i]; }

  // Products of few rows each, as the gradients of weights are, are cheaper all at once after the loop than one by one
  // and added to a sum as large as the weights: sum of a^T b = (all a)^T (all b). With many rows a product is worth
  // doing at once, and what it is made of takes more memory than the sum.
  bool is_stacked(const Output& term) const {
    constexpr int64_t kMostRows = 256;
    const Node& node = *term.node();
    if (node.body != body_ || !node.op->def->sums_by_stacking || !node.op->def->sums_by_stacking(node.attrs)) {
      return false;
    }
    return std::all_of(node.inputs.begin(), node.inputs.end(), [](const Output& input) {
      const Shape& shape = input.shape();
      return shape.rank() == 2 && shape[1] != kUnknown && shape[0] <= kMostRows;
    });
  }

  void add_sum(size_t input, const Output& grad) {
    Sum sum{.input = input};
    const bool several = grad.node()->body == body_ && grad.node()->op->def->elementwise == ElementwiseBody::Kind::Sum;
    const std::vector<Output> terms = several ? grad.node()->inputs : std::vector<Output>{grad};
    std::vector<Output> added;
    for (const Output& term : terms) {
      if (!is_stacked(term)) {
        added.push_back(term);
        continue;
      }
      sum.products.push_back(term.node());
      sum.of.emplace_back();
      for (const Output& factor : term.node()->inputs) sum.of.back().push_back(gather_all(factor));
    }
    if (!added.empty()) {
      Output zero = zero_gradient(c_.input(static_cast<int>(input)));
      Output before = add_variable(zero, zero.shape(), "sum");
      sum.added = initial_.size() - 1;
      set_result(*sum.added, [&] {
        const Output more = added.size() == terms.size() ? grad : added.size() == 1 ? added[0] : add_n(added);
        return before.dtype() == DType::Variant ? add_n({before, more}) : before + more;
      });
    }
    sums_.push_back(std::move(sum));
  }

  // The variable whose final value is the list of a tensor's values in all iterations.
  size_t gather_all(const Output& tensor) {
    auto [known, fresh] = gathered_.try_emplace({tensor.node(), tensor.index()}, initial_.size());
    if (!fresh) return known->second;
    Output list = add_variable(empty_list(tensor), Shape{}, "gathered");
    set_result(known->second, [&] { return NodeBuilder("TensorListPushBack").input(list).input(tensor).output(); });
    return known->second;
  }

  Output total(const Sum& sum, const Operation& loop) {
    std::vector<Output> terms;
    if (sum.added) terms.push_back(loop.output(static_cast<int>(*sum.added)));
    for (size_t i = 0; i < sum.products.size(); ++i) {
      const Node& node = *sum.products[i];
      NodeBuilder product(node.op->name);
      for (size_t n = 0; n < node.inputs.size(); ++n) {
        product.input(NodeBuilder("TensorListConcat")
                          .input(loop.output(static_cast<int>(sum.of[i][n])))
                          .attr("element_dtype", node.inputs[n].dtype())
                          .attr("element_shape", Shape{kUnknown, node.inputs[n].shape()[1]})
                          .output(0));
      }
      for (const auto& [name, value] : node.attrs) product.attr(name, value);
      terms.push_back(product.output());
    }
    return terms.size() == 1 ? terms[0] : add_n(terms);
  }

  // Adds the variables that gradients of some variables flow to, in any number of iterations.
  void spread(std::vector<bool>& active) const {
    for (bool grew = true; grew;) {
      grew = false;
      std::vector<bool> more = influences(forward_, active);
      for (size_t i = 0; i < count_; ++i) {
        if (!more[i] || active[i]) continue;
        active[i] = true;
        grew |= !is_invariant(i);
      }
    }
  }

  // Which loop variables have gradients that change from iteration to iteration, and which tensors have one at all.
  void choose() {
    std::vector<bool> active(count_, false);
    for (size_t i = 0; i < count_; ++i) active[i] = c_.has_output_grad(static_cast<int>(i));
    spread(active);
    for (size_t i = 0; i < count_; ++i) {
      if (!active[i]) continue;
      const bool summed = is_invariant(i) && !c_.has_output_grad(static_cast<int>(i));
      if (summed && !is_differentiated(c_.input(static_cast<int>(i)))) continue;
      if (!summed) carried_.push_back(i);
      xs_.push_back(i);
    }
  }

  // As in TensorFlow, what a variable is computed from has a gradient of zeros when the walk comes by the variable but
  // no gradient does, because it ends at a StopGradient.
  void give_zeros() {
    std::vector<bool> passed(count_, false);
    for (const Node* node : walked_nodes(graph_)) {
      for (const Output& input : node->inputs) {
        if (input.node() == &node_ && static_cast<size_t>(input.index()) < count_) {
          passed[static_cast<size_t>(input.index())] = true;
        }
      }
    }
    for (size_t i = 0; i < count_; ++i) passed[i] = passed[i] && !is_invariant(i);
    spread(passed);
    for (size_t i = 0; i < count_; ++i) {
      const Output input = c_.input(static_cast<int>(i));
      if (!passed[i] || input.dtype() == DType::Variant || !is_differentiated(input)) continue;
      if (std::find(xs_.begin(), xs_.end(), i) == xs_.end()) {
        c_.set_input_grad(static_cast<int>(i), zero_gradient(input));
      }
    }
  }

  // A variable of the new loop, as its body sees it.
  Output add_variable(const Output& initial, const Shape& shape, std::string_view name) {
    initial_.push_back(initial);
    for (Body* body : {condition_, body_}) {
      BodyScope scope(graph_, body);
      body->parameters.push_back(graph_.placeholder(initial.dtype(), shape, name));
    }
    body_->results.push_back(body_->parameters.back());
    return body_->parameters.back();
  }

  template <class Make>
  void set_result(size_t index, const Make& make) {
    BodyScope scope(graph_, body_);
    body_->results[index] = make();
  }

  // How often the forward loop ran.
  Output iterations() {
    if (!node_.attrs.has(kIterations)) {
      Output zero;
      {
        BodyScope scope(graph_, node_.body);
        zero = graph_.constant(0, int32, "iterations");
      }
      Output counter = add_loop_variable(node_, zero, "iterations");
      BodyScope scope(graph_, &forward_);
      Output next = counter + 1;
      set_forward_result(next);
      std::lock_guard lock(graph_.impl().storage.mutex);
      node_.attrs.set(kIterations, static_cast<int64_t>(node_.output_types.size()) - 1);
    }
    return Output(&node_, static_cast<int>(node_.attrs.get<int64_t>(kIterations)));
  }

  void set_forward_result(const Output& result) {
    std::lock_guard lock(graph_.impl().storage.mutex);
    forward_.results.back() = result;
  }

  // For values of a tensor, made where nodes go now.
  Output empty_list(const Output& tensor) {
    return NodeBuilder("EmptyTensorList", "accumulator")
        .input(element_shape(graph_, tensor))
        .input(graph_.constant(-1, int32, "max_num_elements"))
        .attr("element_dtype", tensor.dtype())
        .output();
  }

  // Of the list that the forward loop keeps of a tensor: the output of the node. An earlier gradient may have made it.
  Output list_of(const Output& tensor) {
    for (size_t i = 0; i < forward_.results.size(); ++i) {
      const Node& last = *forward_.results[i].node();
      if (last.op->name == "TensorListPushBack" && last.inputs[1] == tensor &&
          last.inputs[0] == forward_.parameters[i]) {
        return Output(&node_, static_cast<int>(i));
      }
    }
    Output empty;
    {
      BodyScope scope(graph_, node_.body);
      empty = empty_list(tensor);
    }
    Output list = add_loop_variable(node_, empty, "accumulator");
    BodyScope scope(graph_, &forward_);
    set_forward_result(NodeBuilder("TensorListPushBack").input(list).input(tensor).output());
    return Output(&node_, static_cast<int>(node_.output_types.size()) - 1);
  }

  void read_from_list(const Output& tensor) {
    Output list = add_variable(list_of(tensor), Shape{}, "accumulator");
    BodyScope scope(graph_, body_);
    Operation pop = NodeBuilder("TensorListPopBack")
                        .input(list)
                        .input(element_shape(graph_, tensor))
                        .attr("element_dtype", tensor.dtype())
                        .build();
    body_->results.back() = pop.output(0);
    replace_in_body(*body_, tensor, pop.output(1));
  }

  GradContext& c_;
  Graph& graph_;
  Node& node_;
  Body& forward_;
  size_t count_;                      // of the forward loop's variables, before this adds some
  std::vector<size_t> carried_, xs_;  // of those variables
  Body *condition_ = nullptr, *body_ = nullptr;
  std::vector<Output> initial_;
  std::vector<Sum> sums_;
  std::map<std::pair<const Node*, int>, size_t> gathered_;
};

void gradient(GradContext& c) {
  if (!c.op().attrs().has(kNoBackProp)) LoopGradient(c).run();
}

constexpr std::string_view kAttrs =
    "T:list(type)>=0; cond:func; body:func; output_shapes:list(shape)=[]; parallel_iterations:int=10";

OpDef row(std::string_view name, std::string_view flags) {
  return {.name = name,
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = kAttrs,
          .flags = flags,
          .infer = infer_declared_shapes,
          .gradient = gradient,
          .role = Role::Loop};
}

}  // namespace

OpDef while_op() { return row("While", "stateful"); }
OpDef stateless_while_op() { return row("StatelessWhile", ""); }

}  // namespace weir::ops
