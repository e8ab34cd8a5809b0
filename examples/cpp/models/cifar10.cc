#include "cifar10.h"

#include <fmt/core.h>

#include <any>
#include <string_view>

#include "data/cifar10.h"

namespace weir::examples {
namespace {

constexpr int64_t kExamplesPerEpoch = 50000, kClasses = 10;
constexpr double kMovingAverageDecay = 0.9999, kInitialLearningRate = 0.1, kLearningRateDecay = 0.1;
constexpr double kEpochsPerDecay = 350;

// What stands in a collection and was made within a name scope.
std::vector<Output> in_scope(const Graph& g, std::string_view collection, std::string_view scope) {
  std::vector<Output> found;
  for (const std::any& item : g.collection(collection)) {
    const auto* output = std::any_cast<Output>(&item);
    if (output && output->name().starts_with(scope)) found.push_back(*output);
  }
  return found;
}

Variable variable_on_cpu(Graph& g, std::string_view name, const Shape& shape, const Initializer& initializer) {
  auto cpu = g.device("/cpu:0");
  return g.get_variable(name, shape, {.initializer = initializer});
}

Variable weights(Graph& g, const Shape& shape, float stddev, float weight_decay = 0) {
  Variable w = variable_on_cpu(g, "weights", shape, truncated_normal_initializer(stddev));
  if (weight_decay > 0) g.add_to_collection("losses", multiply(nn::l2_loss(w), weight_decay, "weight_loss"));
  return w;
}

Variable biases(Graph& g, int64_t size, double value) {
  return variable_on_cpu(g, "biases", {size}, constant_initializer(value));
}

void summarize_activations(const Output& x) {
  summary::histogram("activations", x);
  summary::scalar("sparsity", nn::zero_fraction(x));
}

Output convolution(Output x, std::string_view name, double bias) {
  Graph& g = x.graph();
  auto scope = g.variable_scope(name);
  Output sums = nn::conv2d(x, weights(g, {5, 5, x.shape()[3], 64}, 5e-2f));
  Output y = nn::relu(nn::bias_add(sums, biases(g, 64, bias)), name);
  summarize_activations(y);
  return y;
}

Output dense(Output x, std::string_view name, int64_t units) {
  Graph& g = x.graph();
  auto scope = g.variable_scope(name);
  Variable w = weights(g, {x.shape()[1], units}, 0.04f, 0.004f);
  Output y = nn::relu(matmul(x, w) + biases(g, units, 0.1), name);
  summarize_activations(y);
  return y;
}

Output inference(const Output& images) {
  Graph& g = images.graph();
  const nn::PoolOptions pool{.ksize = {1, 3, 3, 1}, .strides = {1, 2, 2, 1}};
  const nn::LrnOptions norm{.depth_radius = 4, .bias = 1.0f, .alpha = 0.001f / 9.0f, .beta = 0.75f};
  Output h = convolution(images, "conv1", 0.0);
  h = nn::lrn(nn::max_pool(h, pool, "pool1"), norm, "norm1");
  h = convolution(h, "conv2", 0.1);
  h = nn::max_pool(nn::lrn(h, norm, "norm2"), pool, "pool2");
  h = reshape(h, {-1, h.shape()[1] * h.shape()[2] * h.shape()[3]});
  h = dense(h, "local3", 384);
  h = dense(h, "local4", 192);
  auto scope = g.variable_scope("softmax_linear");
  Variable w = weights(g, {192, kClasses}, 1 / 192.0f);
  Output logits = add(matmul(h, w), biases(g, kClasses, 0.0), "softmax_linear");
  summarize_activations(logits);
  return logits;
}

struct TowerLoss {
  std::vector<Output> parts;  // cross entropy and weight decays
  Output total;
};

TowerLoss tower_loss(const Output& images, const Output& labels, std::string_view scope) {
  Graph& g = images.graph();
  Output logits = inference(images);
  Output each = nn::sparse_softmax_cross_entropy_with_logits(labels, logits, "cross_entropy_per_example");
  g.add_to_collection("losses", reduce_mean(each, {}, "cross_entropy"));
  TowerLoss loss{.parts = in_scope(g, "losses", scope), .total = {}};
  loss.total = add_n(loss.parts, "total_loss");
  return loss;
}

// A name without "tower_0/", so that curves of runs with different towers lie on one another.
std::string name_in_tower(const Output& x) {
  std::string name = x.op().name();
  if (name.starts_with("tower_")) name.erase(0, name.find('/') + 1);
  return name;
}

// Updates the moving averages of the losses; both are shown.
Operation average_losses(const TowerLoss& loss, std::vector<Output>& summaries) {
  train::ExponentialMovingAverage averages(0.9, {.name = "avg"});
  std::vector<Output> losses = loss.parts;
  losses.push_back(loss.total);
  Operation update = averages.apply(losses);
  for (const Output& each : losses) {
    summaries.push_back(summary::scalar(name_in_tower(each) + " (raw)", each));
    summaries.push_back(summary::scalar(name_in_tower(each), averages.average(each)));
  }
  return update;
}

}  // namespace

Cifar10Training::Cifar10Training(const TrainingOptions& options, const std::vector<std::string>& devices)
    : Training(options) {
  Graph& g = graph_;
  g.set_random_seed(options.seed);
  auto cpu = g.device("/cpu:0");
  const data::Iterator batches =
      data::distorted_cifar10(g, options.data_dir,
                              {.batch_size = options.batch_size, .seed = options.seed, .prefetch = 2 * options.towers})
          .initializable_iterator();
  Variable global_step =
      g.get_variable("global_step", {}, {.initializer = zeros_initializer(), .dtype = int64, .trainable = false});
  const double steps_per_epoch = static_cast<double>(kExamplesPerEpoch) / static_cast<double>(batch_size());
  Output rate = train::exponential_decay(kInitialLearningRate, global_step,
                                         static_cast<int64_t>(steps_per_epoch * kEpochsPerDecay), kLearningRateDecay,
                                         {.staircase = true});
  train::GradientDescent optimizer(rate);

  std::vector<Output> summaries;
  std::vector<train::GradsAndVars> tower_grads;
  TowerLoss loss;
  {
    auto sharing = variable_scope(g, g.variable_scope());
    for (size_t i = 0; i < devices.size(); ++i) {
      auto device = g.device(devices[i]);
      auto scope = g.name_scope(fmt::format("tower_{}", i));
      auto [images, labels] = batches.get_next<2>();
      loss = tower_loss(images, labels, scope.name());
      sharing.reuse_variables();
      summaries = in_scope(g, "summaries", scope.name());  // of the last tower only
      tower_grads.push_back(optimizer.compute_gradients(loss.total));
    }
  }
  const train::GradsAndVars grads = train::average_gradients(tower_grads);
  Operation apply = optimizer.apply_gradients(grads, {.global_step = global_step});

  Operation average = average_losses(loss, summaries);
  summaries.push_back(summary::scalar("learning_rate", rate));
  for (const auto& [grad, variable] : grads) {
    summaries.push_back(summary::histogram(variable.name() + "/gradients", grad.dense()));
    summaries.push_back(summary::histogram(variable.name(), variable));
  }

  train::ExponentialMovingAverage variable_averages(kMovingAverageDecay, {.num_updates = global_step});
  Operation train;
  {
    auto after = g.control_dependencies({apply, average});
    train = variable_averages.apply(g.trainable_variables());
  }
  begin({.loss = loss.total,
         .summary = summary::merge(summaries),
         .train = train,
         .global_step = global_step,
         .start = {batches.initializer()}});
}

double Cifar10Training::test_accuracy() { return cifar10_accuracy(save(), options_.data_dir, options_.session); }

std::vector<std::string> tower_devices(int64_t towers, int64_t cpus) {
  std::vector<std::string> devices;
  for (int64_t i = 0; i < towers; ++i) {
    devices.push_back(cpus > 0 ? fmt::format("/cpu:{}", i % cpus) : fmt::format("/gpu:{}", i));
  }
  return devices;
}

void set_devices(SessionOptions& options, int64_t virtual_gpus, int64_t cpus) {
  if (virtual_gpus > 0) options.virtual_gpus.count = static_cast<int>(virtual_gpus);
  if (cpus > 0) options.device_count["CPU"] = static_cast<int>(cpus);
}

double cifar10_accuracy(const std::string& checkpoint, const std::string& data_dir, const SessionOptions& options) {
  constexpr int64_t kBatch = 500;
  Graph g;
  auto [images, labels] =
      data::central_cifar10(g, data_dir, data::Cifar10Part::Test, kBatch).one_shot_iterator().get_next<2>();
  Output known = nn::in_top_k(inference(images), labels, 1);
  Output right = reduce_sum(cast(known, int64)), count = size(known, int64);
  train::SaverOptions averages{.var_list = std::vector<train::SaveItem>()};
  for (const auto& [name, variable] : train::ExponentialMovingAverage(kMovingAverageDecay).variables_to_restore(g)) {
    averages.var_list->emplace_back(name, variable);
  }
  train::Saver saver(g, averages);
  Session session(g, options);
  saver.restore(session, checkpoint);
  auto test = session.make_callable({.fetches = {right, count}});
  int64_t rights = 0, pictures = 0;
  try {
    while (true) {
      const auto results = test();
      rights += results[0].scalar<int64_t>();
      pictures += results[1].scalar<int64_t>();
    }
  } catch (const Error& e) {
    if (e.code() != Code::OutOfRange) throw;  // else the end of the files
  }
  return static_cast<double>(rights) / static_cast<double>(pictures);
}

}  // namespace weir::examples
