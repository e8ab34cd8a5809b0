#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir::train {

struct MovingAverageOptions {
  // The average begins at 0 and would stay too small at first: two more variables, "<variable>/biased" and
  // "<variable>/local_step", correct it.
  bool zero_debias = true;
};
// variable -= (1 - decay) * (variable - value). Gives the variable after the update.
WEIR_API Output assign_moving_average(const Variable& variable, const In& value, const In& decay,
                                      const MovingAverageOptions& options = {}, std::string_view name = {});

// A list of variables and of tensors: apply({w, b, loss}).
class WEIR_API AveragedList {
 public:
  struct Item {
    Item(const Variable& v) : variable(v), value(v.value()) {}  // NOLINT
    Item(const Output& v) : value(v) {}                         // NOLINT
    Variable variable;                                          // empty for a tensor
    Output value;
  };
  AveragedList(std::initializer_list<Item> items) : items_(items) {}                                    // NOLINT
  AveragedList(std::vector<Item> items) : items_(std::move(items)) {}                                   // NOLINT
  AveragedList(const std::vector<Variable>& variables) : items_(variables.begin(), variables.end()) {}  // NOLINT
  AveragedList(const std::vector<Output>& tensors) : items_(tensors.begin(), tensors.end()) {}          // NOLINT
  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
};

// Keeps a moving average of variables ("shadow variables", which often score better than the last values) and of
// tensors. The averages are variables named "<variable>/ExponentialMovingAverage", as TensorFlow's are; an average
// begins at the variable's initial value, and that of a tensor at 0. Serves one graph and must not outlive it.
struct ExponentialMovingAverageOptions {
  std::optional<In> num_updates = {};  // the decay is at most (1 + num_updates) / (10 + num_updates): faster at first
  bool zero_debias = false;            // of the averages of tensors, see MovingAverageOptions
  std::string name = "ExponentialMovingAverage";
};
class WEIR_API ExponentialMovingAverage {
 public:
  explicit ExponentialMovingAverage(const In& decay, const ExponentialMovingAverageOptions& options = {});

  const std::string& name() const { return options_.name; }
  // Makes the averages that do not exist yet, and an operation that updates those listed. Throws InvalidArgument when
  // the list is empty or a type is not floating.
  Operation apply(const AveragedList& list, In::Where where = In::Where::current());
  // The average of a variable or tensor; an empty handle when there is none.
  Variable average(const AveragedList::Item& item) const;
  // The name that the average has, or would have.
  std::string average_name(const AveragedList::Item& item) const;
  // For a Saver that restores averages into the variables themselves: what each of the graph's variables is called in
  // the file. `averaged` has the variables with averages; by default the trainable ones and those averaged so far.
  std::map<std::string, Variable> variables_to_restore(const Graph& graph) const;
  std::map<std::string, Variable> variables_to_restore(const Graph& graph, const std::vector<Variable>& averaged) const;

 private:
  using Key = std::pair<const Node*, int>;
  static Key key(const AveragedList::Item& item);
  Variable make_average(const AveragedList::Item& item) const;

  In decay_;
  ExponentialMovingAverageOptions options_;
  std::map<Key, Variable> averages_;
};

}  // namespace weir::train
