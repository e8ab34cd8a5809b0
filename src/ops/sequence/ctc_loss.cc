#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/sequence/ctc.h"
#include "ops/types.h"
#include "weir/ops.h"
#include "weir/sequence_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape inputs = infer_ctc(c, 3);
  c.require_rank(1, 2);
  c.require_rank(2, 1);
  const Shape indices = c.input(1).merged({kUnknown, 2}), values = c.input(2).merged(Shape::unknown_dims(1));
  if (!Shape{indices[0]}.compatible(values)) {
    throw invalid_argument("labels_indices {} and labels_values {} have different lengths", indices.str(),
                           values.str());
  }
  c.set_output(0, {inputs[1]});
  c.set_output(1, inputs);
}

struct State {
  bool collapse, merge, ignore_longer;
};

State prepare(PrepareContext& c) {
  return {c.attr<bool>("preprocess_collapse_repeated"), c.attr<bool>("ctc_merge_repeated"),
          c.attr<bool>("ignore_longer_outputs_than_inputs")};
}

using Labels = std::vector<int32_t>;

std::string listed(const Labels& labels) {
  std::string text;
  for (int32_t label : labels) text += (text.empty() ? "" : ",") + std::to_string(label);
  return text;
}

// The labels of each sequence as they were given.
std::vector<Labels> given_labels(const KernelContext& c, int64_t batch) {
  std::vector<Labels> labels(static_cast<size_t>(batch));
  const auto* indices = c.input<int64_t>(1);
  for (int64_t i = 0; i < c.shape(1)[0]; ++i) {
    const int64_t row = indices[2 * i];
    if (row < 0 || row >= batch) throw invalid_argument("labels_indices: row {} is not in [0, {})", row, batch);
    labels[static_cast<size_t>(row)].push_back(c.input<int32_t>(2)[i]);
  }
  return labels;
}

// Those that count: up to the first blank, repetitions dropped if so wished.
Labels counted_labels(const Labels& given, int64_t b, int64_t classes, const State& state) {
  Labels counted;
  bool ended = false;
  for (size_t i = 0; i < given.size(); ++i) {
    if (i > 0 && state.collapse && given[i] == given[i - 1]) continue;
    if (given[i] >= classes - 1) {
      ended = true;
    } else if (ended) {
      throw invalid_argument(
          "Saw a non-null label (index >= num_classes - 1) following a null label, batch: {} num_classes: {} labels: "
          "{}",
          b, classes, listed(given));
    } else if (given[i] < 0) {
      throw invalid_argument("All labels must be nonnegative integers, batch: {} labels: {}", b, listed(given));
    } else {
      counted.push_back(given[i]);
    }
  }
  return counted;
}

// One sequence: forward and backward probabilities over the labels with a blank before, between and behind them.
class Alignment {
 public:
  // `log_y` holds log probabilities [time, classes].
  Alignment(const Labels& labels, int64_t time, int64_t classes, bool merge)
      : time_(time), blank_(classes - 1), merge_(merge) {
    for (int32_t label : labels) {
      path_.push_back(static_cast<int32_t>(blank_));
      path_.push_back(label);
    }
    path_.push_back(static_cast<int32_t>(blank_));
  }

  // The log probability of the labels, and of `visits[t, class]`: that a path is at that class at that time.
  double run(const std::vector<double>& log_y, int64_t classes, std::vector<double>& visits) {
    const auto states = static_cast<int64_t>(path_.size());
    auto y = [&](int64_t t, int64_t u) {
      return log_y[static_cast<size_t>(t * classes + path_[static_cast<size_t>(u)])];
    };
    std::vector<double> alpha(static_cast<size_t>(time_ * states), kLogZero);
    auto a = [&](int64_t t, int64_t u) -> double& { return alpha[static_cast<size_t>(t * states + u)]; };
    a(0, 0) = y(0, 0);
    if (states > 1) a(0, 1) = y(0, 1);
    for (int64_t t = 1; t < time_; ++t) {
      for (int64_t u = 0; u < states; ++u) {
        double sum = stays(u) ? a(t - 1, u) : kLogZero;
        if (u > 0) sum = log_sum_exp(sum, a(t - 1, u - 1));
        if (skips(u)) sum = log_sum_exp(sum, a(t - 1, u - 2));
        a(t, u) = sum + y(t, u);
      }
    }
    double total = a(time_ - 1, states - 1);
    if (states > 1) total = log_sum_exp(total, a(time_ - 1, states - 2));
    // Of the probabilities backwards only those of one moment are kept.
    std::vector<double> beta(static_cast<size_t>(states), kLogZero), before(beta);
    beta[static_cast<size_t>(states - 1)] = 0;
    if (states > 1) beta[static_cast<size_t>(states - 2)] = 0;
    for (int64_t t = time_ - 1; t >= 0; --t) {
      for (int64_t u = 0; u < states; ++u) {
        double& visit = visits[static_cast<size_t>(t * classes + path_[static_cast<size_t>(u)])];
        visit = log_sum_exp(visit, a(t, u) + beta[static_cast<size_t>(u)]);
      }
      if (t == 0) break;
      for (int64_t u = 0; u < states; ++u) {
        double sum = stays(u) ? beta[static_cast<size_t>(u)] + y(t, u) : kLogZero;
        if (u + 1 < states) sum = log_sum_exp(sum, beta[static_cast<size_t>(u + 1)] + y(t, u + 1));
        if (u + 2 < states && skips(u + 2)) sum = log_sum_exp(sum, beta[static_cast<size_t>(u + 2)] + y(t, u + 2));
        before[static_cast<size_t>(u)] = sum;
      }
      std::swap(beta, before);
    }
    return total;
  }

 private:
  int32_t at(int64_t u) const { return path_[static_cast<size_t>(u)]; }
  bool stays(int64_t u) const { return merge_ || at(u) == blank_; }
  // Whether a path may come to u from u - 2: over a blank that it does not need.
  bool skips(int64_t u) const { return u > 1 && at(u) != blank_ && !(merge_ && at(u) == at(u - 2)); }

  std::vector<int32_t> path_;
  int64_t time_, blank_;
  bool merge_;
};

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const CtcShape shape = checked_ctc(c, 3);
    const auto& state = c.state<State>();
    const std::vector<Labels> given = given_labels(c, shape.batch);
    std::vector<Labels> labels;
    for (int64_t b = 0; b < shape.batch; ++b) {
      const Labels& all = given[static_cast<size_t>(b)];
      labels.push_back(counted_labels(all, b, shape.classes, state));
      const auto required = static_cast<int64_t>(all.size());
      const int64_t available = c.input<int32_t>(3)[b];
      if (!state.ignore_longer && required > available) {
        throw invalid_argument(
            "Not enough time for target transition sequence (required: {}, available: {}){}You can turn this error "
            "into "
            "a warning by using the flag ignore_longer_outputs_than_inputs",
            required, available, b);
      }
    }
    T *loss = c.output<T>(0), *gradient = c.output<T>(1);
    std::fill_n(loss, shape.batch, T(0));
    std::fill_n(gradient, shape.time * shape.batch * shape.classes, T(0));
    c.pool().parallel_for(shape.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t time = c.input<int32_t>(3)[b];
        // Empty sequences, and those shorter than their labels, have no loss.
        if (time == 0 || static_cast<int64_t>(given[static_cast<size_t>(b)].size()) > time) continue;
        loss[b] = static_cast<T>(
            one_sequence(c.input<T>(0), gradient, shape, b, time, labels[static_cast<size_t>(b)], state.merge));
      }
    });
  }

  template <class T>
  static double one_sequence(const T* inputs, T* gradient, const CtcShape& shape, int64_t b, int64_t time,
                             const Labels& labels, bool merge) {
    const int64_t classes = shape.classes;
    std::vector<double> log_y(static_cast<size_t>(time * classes)), visits(log_y.size(), kLogZero);
    for (int64_t t = 0; t < time; ++t) {
      const T* row = inputs + (t * shape.batch + b) * classes;
      const double norm = log_normalizer(row, classes);
      for (int64_t k = 0; k < classes; ++k) {
        log_y[static_cast<size_t>(t * classes + k)] = static_cast<double>(row[k]) - norm;
      }
    }
    const double total = Alignment(labels, time, classes, merge).run(log_y, classes, visits);
    for (int64_t t = 0; t < time; ++t) {
      for (int64_t k = 0; k < classes; ++k) {
        const auto at = static_cast<size_t>(t * classes + k);
        // Where no path is possible the gradient is that of the softmax alone.
        const double visited = total == kLogZero ? 0 : std::exp(visits[at] - total);
        gradient[(t * shape.batch + b) * classes + k] = static_cast<T>(std::exp(log_y[at]) - visited);
      }
    }
    return -total;
  }
};

void gradient(GradContext& c) {
  Output by_logits = NodeBuilder("PreventGradient")
                         .input(c.output(1))
                         .attr("message",
                               "Currently there is no way to take the second  derivative of ctc_loss due to the fused "
                               "implementation's interaction  with tf.gradients()")
                         .output();
  Output loss_grad = expand_dims(c.output_grad(0), -1);
  c.set_input_grad(0, loss_grad * by_logits);
}

}  // namespace

OpDef ctc_loss_op() {
  return {.name = "CTCLoss",
          .inputs = "inputs:T; labels_indices:int64; labels_values:int32; sequence_length:int32",
          .outputs = "loss:T; gradient:T",
          .attrs =
              "preprocess_collapse_repeated:bool=False; ctc_merge_repeated:bool=True; "
              "ignore_longer_outputs_than_inputs:bool=False; T:type{float,double}=float",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<Types<float, double>, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output ctc_loss(const SparseOutput& labels, const In& inputs, const In& sequence_length, const CtcLossOptions& options,
                std::string_view name) {
  In logits = inputs;
  if (!options.time_major) logits = In(transpose(inputs, {1, 0, 2}), inputs.where());
  return NodeBuilder("CTCLoss", name, inputs.where())
      .input(logits)
      .input(labels.indices)
      .input(labels.values)
      .input(sequence_length)
      .attr("preprocess_collapse_repeated", options.preprocess_collapse_repeated)
      .attr("ctc_merge_repeated", options.ctc_merge_repeated)
      .attr("ignore_longer_outputs_than_inputs", options.ignore_longer_outputs_than_inputs)
      .output();
}

}  // namespace weir::nn
