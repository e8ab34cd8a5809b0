#pragma once

#include <string_view>
#include <vector>

#include "weir/gradient.h"
#include "weir/graph.h"

namespace weir {

// Seen by a gradient rule: a node, the gradients of its outputs, and the place for those of its inputs. An input whose
// gradient is not set gets none. Nodes made by the rule stand in the scope "<node>_grad" and carry the node's own line.
class GradContext {
 public:
  // `zeros` stands in for gradients that did not come; an empty entry is made when it is asked for.
  GradContext(Operation op, const std::vector<Gradient>& output_grads, const std::vector<Output>& zeros);
  ~GradContext();

  Graph& graph() const { return op_.graph(); }
  Operation op() const { return op_; }
  template <class T>
  const T& attr(std::string_view name) const {
    return op_.attrs().get<T>(name);
  }
  int inputs() const { return op_.inputs(); }
  int outputs() const { return op_.outputs(); }
  Output input(int index) const { return op_.input(index); }
  Output output(int index) const { return op_.output(index); }

  bool has_output_grad(int index = 0) const { return !output_grads_[static_cast<size_t>(index)].none(); }
  // Dense; zeros of the output's shape when no gradient reached it.
  Output output_grad(int index = 0) const;
  // As it came, perhaps sparse.
  const Gradient& raw_output_grad(int index = 0) const { return output_grads_[static_cast<size_t>(index)]; }

  void set_input_grad(int index, const Gradient& gradient) { input_grads_[static_cast<size_t>(index)] = gradient; }
  // For rules that are easier to derive than to write: `ys` are the first outputs once more, made of operations that
  // can be differentiated, and `xs` the first inputs as those read them (copies, so that nothing behind them is walked
  // through). Sets the gradients of these inputs.
  void differentiate(const std::vector<Output>& ys, const std::vector<Output>& xs);
  std::vector<Gradient> take_input_grads();

 private:
  Operation op_;
  const std::vector<Gradient>& output_grads_;
  const std::vector<Output>& zeros_;
  std::vector<Gradient> input_grads_;
};

// Sums `grad`, which has the shape of a broadcast of x and others, over the dimensions along which x was stretched, so
// that it gets x's shape. For binary operations: both at once.
Output reduce_to_shape_of(const Output& grad, const Output& x);
std::pair<Output, Output> reduce_broadcast(const Output& x_grad, const Output& x, const Output& y_grad,
                                           const Output& y);

}  // namespace weir
