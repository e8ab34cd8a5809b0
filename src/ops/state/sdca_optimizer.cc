#include <cstring>
#include <numeric>
#include <random>
#include <unordered_map>
#include <unordered_set>

#include "graph/infer_context.h"
#include "ops/state/sdca_losses.h"
#include "ops/types.h"

// A step of stochastic dual coordinate ascent for linear models with L1 and L2 regularisation: each example's dual
// variable is moved to where it gains most, and the weights with it. Gives what is to be added to the weights.
namespace weir::ops {
namespace {

// Where the lists of inputs and outputs begin.
struct Lists {
  int sparse, valued, dense;

  explicit Lists(const AttrMap& attrs)
      : sparse(count(attrs, "num_sparse_features")),
        valued(count(attrs, "num_sparse_features_with_values")),
        dense(count(attrs, "num_dense_features")) {
    if (sparse + dense == 0) throw invalid_argument("Requires at least one feature to train.");
    if (valued > sparse) throw invalid_argument("there are values for {} sparse features of {}", valued, sparse);
  }
  static int count(const AttrMap& attrs, const char* name) { return static_cast<int>(attrs.get<int64_t>(name)); }

  int example_indices() const { return 0; }
  int feature_indices() const { return sparse; }
  int feature_values() const { return 2 * sparse; }
  int dense_features() const { return feature_values() + valued; }
  int example_weights() const { return dense_features() + dense; }
  int example_labels() const { return example_weights() + 1; }
  int sparse_indices() const { return example_labels() + 1; }
  int sparse_weights() const { return sparse_indices() + sparse; }
  int dense_weights() const { return sparse_weights() + sparse; }
  int state() const { return dense_weights() + dense; }
  int sparse_deltas() const { return 1; }
  int dense_deltas() const { return 1 + sparse; }
};

void require_equal_sizes(const InferContext& c, int a, int b, const char* what) {
  const Shape &x = c.input(a), &y = c.input(b);
  if (x.is_known() && y.is_known() && x.elements() != y.elements()) {
    throw invalid_argument("{}: {} vs {} elements", what, x.elements(), y.elements());
  }
}

void infer(InferContext& c) {
  const Lists at(c.attrs());
  c.require_rank(at.state(), 2);
  require_equal_sizes(c, at.example_weights(), at.example_labels(),
                      "Expected as many example labels as example weights");
  const Shape& weights = c.input(at.example_weights());
  const int64_t examples = weights.is_known() ? weights.elements() : kUnknown;
  const Shape state = c.input(at.state()).merged(Shape::unknown_dims(2));
  if ((state[1] != kUnknown && state[1] != 4) ||
      (examples != kUnknown && state[0] != kUnknown && state[0] != examples)) {
    throw invalid_argument("Expected shape {} for example_state_data, got {}", Shape{examples, 4}.str(), state.str());
  }
  for (int i = 0; i < at.sparse; ++i) {
    require_equal_sizes(c, at.example_indices() + i, at.feature_indices() + i,
                        "Found mismatched example_indices and feature_indices");
    if (i < at.valued)
      require_equal_sizes(c, at.feature_indices() + i, at.feature_values() + i,
                          "Found mismatched feature_indices and feature_values");
    require_equal_sizes(c, at.sparse_indices() + i, at.sparse_weights() + i,
                        "sparse_indices and sparse_weights must have the same length");
    c.set_output(at.sparse_deltas() + i, c.input(at.sparse_weights() + i));
  }
  for (int i = 0; i < at.dense; ++i) {
    c.require_rank(at.dense_features() + i, 2);
    const Shape features = c.input(at.dense_features() + i).merged(Shape::unknown_dims(2));
    const Shape& dense = c.input(at.dense_weights() + i);
    if (examples != kUnknown && features[0] != kUnknown && features[0] != examples) {
      throw invalid_argument("Dense features at index {} have {} rows for {} examples", i, features[0], examples);
    }
    if (dense.is_known() && features[1] != kUnknown && (features[1] == 0 || features[1] != dense.elements())) {
      throw invalid_argument("More dense features than we have parameters for: {} for {}", features[1],
                             dense.elements());
    }
    c.set_output(at.dense_deltas() + i, dense);
  }
  c.set_output(0, state);
}

// Weights and what has been added to them so far.
struct Weights {
  const float* nominal;
  float* delta;
  int64_t count;
};

// A feature of an example: the place of its weight, and its value.
struct Feature {
  Weights* weights;
  int64_t at;
  double value;
};

struct Example {
  std::vector<Feature> sparse;
  double squared_norm = 0;
};

class Step {
 public:
  explicit Step(KernelContext& c)
      : c_(c),
        at_(c.node().attrs()),
        loss_(sdca::loss_named(c.node().attr<std::string>("loss_type"))),
        l2_(c.node().attr<float>("l2")),
        shrinkage_(static_cast<double>(c.node().attr<float>("l1") / c.node().attr<float>("l2"))),
        partitions_(static_cast<double>(c.node().attr<int64_t>("num_loss_partitions"))),
        examples_(static_cast<size_t>(c.elements(at_.example_weights()))),
        state_(c.output<float>(0)) {
    std::copy_n(c.input<float>(at_.state()), c.elements(at_.state()), state_);
    sparse_ = weights_of(at_.sparse_weights(), at_.sparse_deltas(), at_.sparse);
    dense_ = weights_of(at_.dense_weights(), at_.dense_deltas(), at_.dense);
    for (int i = 0; i < at_.sparse; ++i) read_sparse(i);
    for (size_t e = 0; e < examples_.size(); ++e) {
      for (int i = 0; i < at_.dense; ++i) {
        const float* row = dense_row(i, e);
        for (int64_t k = 0; k < dense_[static_cast<size_t>(i)].count; ++k)
          examples_[e].squared_norm += static_cast<double>(row[k]) * row[k];
      }
    }
  }

  void run(bool adaptive) {
    for (size_t e : adaptive ? likely_order() : random_order()) move(e);
  }

 private:
  std::vector<Weights> weights_of(int first_input, int first_output, int count) {
    std::vector<Weights> result;
    for (int i = 0; i < count; ++i) {
      result.push_back(
          {c_.input<float>(first_input + i), c_.output<float>(first_output + i), c_.elements(first_input + i)});
      std::fill_n(result.back().delta, result.back().count, 0.0f);
    }
    return result;
  }

  // Features of an example stand together, and examples in order; what breaks the order is not looked at, as in
  // TensorFlow.
  void read_sparse(int feature) {
    Weights& weights = sparse_[static_cast<size_t>(feature)];
    std::unordered_map<int64_t, int64_t> places;
    for (int64_t i = 0; i < weights.count; ++i) places[c_.input<int64_t>(at_.sparse_indices() + feature)[i]] = i;
    const auto *owners = c_.input<int64_t>(at_.example_indices() + feature),
               *indices = c_.input<int64_t>(at_.feature_indices() + feature);
    const auto* values = feature < at_.valued ? c_.input<float>(at_.feature_values() + feature) : nullptr;
    const int64_t entries = c_.elements(at_.feature_indices() + feature);
    int64_t next = 0;
    for (size_t e = 0; e < examples_.size(); ++e) {
      std::unordered_set<int64_t> seen;
      for (; next < entries && owners[next] == static_cast<int64_t>(e); ++next) {
        const auto place = places.find(indices[next]);
        if (place == places.end())
          throw invalid_argument("Found sparse feature indices out of valid range: {}", indices[next]);
        if (!seen.insert(indices[next]).second) throw invalid_argument("Duplicate index in sparse vector.");
        const double value = values ? values[next] : 1.0;
        examples_[e].sparse.push_back({&weights, place->second, value});
        examples_[e].squared_norm += value * value;
      }
    }
  }

  const float* dense_row(int feature, size_t example) const {
    return c_.input<float>(at_.dense_features() + feature) +
           static_cast<int64_t>(example) * dense_[static_cast<size_t>(feature)].count;
  }

  double shrunk(double weight) const {
    const double rest = std::max(std::abs(weight) - shrinkage_, 0.0);
    return rest > 0.0 ? std::copysign(rest, weight) : 0.0;
  }

  // The model's answer, with what has been added to the weights counted so many times.
  double answer(size_t example, double times) const {
    double sum = 0;
    auto weight = [&](const Weights& w, int64_t i) {
      return shrunk(static_cast<double>(w.nominal[i]) + static_cast<double>(w.delta[i]) * times);
    };
    for (const Feature& f : examples_[example].sparse) sum += f.value * weight(*f.weights, f.at);
    for (int i = 0; i < at_.dense; ++i) {
      const float* row = dense_row(i, example);
      const Weights& w = dense_[static_cast<size_t>(i)];
      for (int64_t k = 0; k < w.count; ++k) sum += row[k] * weight(w, k);
    }
    return sum;
  }

  void move(size_t e) {
    const double weight = c_.input<float>(at_.example_weights())[e],
                 label = loss_.label(c_.input<float>(at_.example_labels())[e]);
    float* state = state_ + 4 * e;
    const double before = answer(e, 0), dual = state[0];
    const double updated =
        loss_.updated_dual({label, weight, dual, answer(e, partitions_), examples_[e].squared_norm / l2_, partitions_});
    const double change = (updated - dual) * weight / l2_;
    for (const Feature& f : examples_[e].sparse) f.weights->delta[f.at] += static_cast<float>(f.value * change);
    for (int i = 0; i < at_.dense; ++i) {
      const float* row = dense_row(i, e);
      const Weights& w = dense_[static_cast<size_t>(i)];
      for (int64_t k = 0; k < w.count; ++k) w.delta[k] += row[k] * static_cast<float>(change);
    }
    state[0] = static_cast<float>(updated);
    state[1] = static_cast<float>(loss_.primal_loss(before, label, weight));
    state[2] = static_cast<float>(loss_.dual_loss(dual, label, weight));
    state[3] = static_cast<float>(weight);
  }

  // TensorFlow's order is another in every run; ours follows from the state, so that equal programs give equal models
  // and no two steps go the same way.
  std::mt19937 generator() const {
    uint32_t seed = 2166136261u;
    for (size_t i = 0; i < 4 * examples_.size(); ++i) {
      uint32_t bits;
      std::memcpy(&bits, state_ + i, sizeof bits);
      seed = (seed ^ bits) * 16777619u;
    }
    return std::mt19937(seed);
  }

  std::vector<size_t> random_order() const {
    std::vector<size_t> order(examples_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    auto random = generator();
    std::shuffle(order.begin(), order.end(), random);
    return order;
  }

  // Examples that promise much come first and perhaps again, each time ten times less likely; then those that were
  // never drawn, most promising first.
  std::vector<size_t> likely_order() const {
    std::vector<double> promise(examples_.size());
    for (size_t e = 0; e < examples_.size(); ++e) {
      const double label = loss_.label(c_.input<float>(at_.example_labels())[e]);
      const double kappa = state_[4 * e] + loss_.derivative(answer(e, partitions_), label);
      const double value = c_.input<float>(at_.example_weights())[e] *
                           std::sqrt(examples_[e].squared_norm + l2_ * loss_.smoothness()) * std::abs(kappa);
      promise[e] = value > 0 && std::isfinite(value) ? value : 0;
    }
    if (std::all_of(promise.begin(), promise.end(), [](double p) { return p == 0; })) return random_order();
    auto random = generator();
    std::discrete_distribution<size_t> draw(promise.begin(), promise.end());
    std::uniform_real_distribution<double> chance(0, 1);
    std::vector<int> drawn(examples_.size());
    std::vector<size_t> order, rest;
    for (size_t refused = 0; order.size() < examples_.size() && refused < examples_.size();) {
      const size_t e = draw(random);
      if (chance(random) > std::pow(0.1, drawn[e])) {
        ++refused;
        continue;
      }
      ++drawn[e];
      order.push_back(e);
    }
    for (size_t e = 0; e < examples_.size(); ++e) {
      if (drawn[e] == 0) rest.push_back(e);
    }
    std::stable_sort(rest.begin(), rest.end(), [&](size_t a, size_t b) { return promise[a] > promise[b]; });
    rest.resize(std::min(rest.size(), examples_.size() - order.size()));
    order.insert(order.end(), rest.begin(), rest.end());
    return order;
  }

  KernelContext& c_;
  Lists at_;
  const sdca::Loss& loss_;
  double l2_, shrinkage_, partitions_;
  std::vector<Weights> sparse_, dense_;
  std::vector<Example> examples_;
  float* state_;
};

void cpu(KernelContext& c) {
  Step(c).run(c.node().attr<bool>(c.node().attrs().find("adaptive") ? "adaptive" : "adaptative"));
}

constexpr std::string_view kInputs =
    "sparse_example_indices:num_sparse_features*int64; sparse_feature_indices:num_sparse_features*int64; "
    "sparse_feature_values:num_sparse_features_with_values*float; dense_features:num_dense_features*float; "
    "example_weights:float; "
    "example_labels:float; sparse_indices:num_sparse_features*int64; sparse_weights:num_sparse_features*float; "
    "dense_weights:num_dense_features*float; example_state_data:float";
constexpr std::string_view kOutputs =
    "out_example_state_data:float; out_delta_sparse_weights:num_sparse_features*float; "
    "out_delta_dense_weights:num_dense_features*float";
#define WEIR_LOSS "loss_type:string{logistic_loss,squared_loss,hinge_loss,smooth_hinge_loss,poisson_loss}; "
#define WEIR_REST                                                                                             \
  "num_sparse_features:int>=0; num_sparse_features_with_values:int>=0; num_dense_features:int>=0; l1:float; " \
  "l2:float; "                                                                                                \
  "num_loss_partitions:int>=1; num_inner_iterations:int>=1"

OpDef row(std::string_view name, std::string_view attrs) {
  return {.name = name,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace

OpDef sdca_optimizer_op() { return row("SdcaOptimizer", WEIR_LOSS "adaptative:bool=False; " WEIR_REST); }
OpDef sdca_optimizer_v2_op() { return row("SdcaOptimizerV2", WEIR_LOSS "adaptive:bool=False; " WEIR_REST); }

}  // namespace weir::ops
