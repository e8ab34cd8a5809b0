#include "mnist.h"

#include <algorithm>

namespace weir::examples {
namespace {

Output convolution_and_pool(Output x, int64_t filters, const std::string& name) {
  Graph& g = x.graph();
  auto scope = g.name_scope(name);
  Variable weights = g.variable("weights", truncated_normal(g, {5, 5, x.shape()[3], filters}, {.stddev = 0.1f}));
  Variable biases = g.variable("biases", fill(g, {filters}, 0.1f));
  return nn::max_pool(nn::relu(nn::bias_add(nn::conv2d(x, weights), biases)));
}

Output dense(Output x, int64_t units, const std::string& name) {
  Graph& g = x.graph();
  auto scope = g.name_scope(name);
  Variable weights = g.variable("weights", truncated_normal(g, {x.shape()[1], units}, {.stddev = 0.1f}));
  Variable biases = g.variable("biases", fill(g, {units}, 0.1f));
  return matmul(x, weights) + biases;
}

}  // namespace

MnistTraining::MnistTraining(const TrainingOptions& options)
    : Training(options),
      mnist_(data::read_mnist(options.data_dir)),
      batches_(mnist_.train.images, mnist_.train.labels, static_cast<uint64_t>(options.seed)) {
  Graph& g = graph_;
  g.set_random_seed(options.seed);
  images_ = g.placeholder(float32, {kUnknown, 784}, "images");
  labels_ = g.placeholder(int64, {kUnknown}, "labels");
  keep_prob_ = g.placeholder(float32, {}, "keep_prob");
  Output h = convolution_and_pool(reshape(images_, {-1, 28, 28, 1}), 32, "conv1");
  h = convolution_and_pool(h, 64, "conv2");
  h = nn::relu(dense(reshape(h, {-1, 7 * 7 * 64}), 1024, "dense"));
  Output logits = dense(nn::dropout(h, keep_prob_), 10, "logits");
  Output loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels_, logits));
  accuracy_ = reduce_mean(cast(equal(argmax(logits, 1), labels_), float32));
  Variable global_step = g.variable("global_step", Tensor(int64_t{0}), {.trainable = false});
  Operation train = train::Adam(1e-4f).minimize(loss, {.global_step = global_step});
  summary::scalar("loss", loss);
  summary::scalar("accuracy", accuracy_);
  begin({.feeds = {images_, labels_, keep_prob_},
         .loss = loss,
         .summary = summary::merge_all(g),
         .train = train,
         .global_step = global_step});
  for (int64_t i = 0; i < step(); ++i) batches_.next(options.batch_size);  // those of earlier runs
}

void MnistTraining::next_batch(std::vector<Tensor>& feeds) {
  data::Batches::Batch batch = batches_.next(options_.batch_size);
  feeds[0] = batch.images;
  feeds[1] = batch.labels;
  feeds[2] = 0.5f;
}

double MnistTraining::test_accuracy() {
  constexpr int64_t kBatch = 500;
  const data::Labelled& test = mnist_.test;
  const int64_t count = test.labels.elements();
  double correct = 0;
  for (int64_t at = 0; at < count; at += kBatch) {
    const int64_t n = std::min(kBatch, count - at);
    auto images = test.images.data<float>().subspan(static_cast<size_t>(at * 784), static_cast<size_t>(n * 784));
    auto labels = test.labels.data<int64_t>().subspan(static_cast<size_t>(at), static_cast<size_t>(n));
    Tensor accuracy = session_->session().run(
        accuracy_,
        {{images_, Tensor::from(images, {n, 784})}, {labels_, Tensor::from(labels, {n})}, {keep_prob_, 1.0f}});
    correct += static_cast<double>(accuracy.scalar<float>()) * static_cast<double>(n);
  }
  return correct / static_cast<double>(count);
}

}  // namespace weir::examples
