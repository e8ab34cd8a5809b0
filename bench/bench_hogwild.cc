// Hogwild: several threads update one variable without locking. bench/hogwild_tensorflow.py is the same in Python, for
// TensorFlow and for Weir. Prints one JSON line for each workload in the form that compare.py reads: microseconds of
// one update, all threads together.
//
//   bench_hogwild [--threads N] [--seconds S] workload ...
//
//   dense_apply     w -= 0.1 * g for 4 MB of float32, g a constant
//   dense_add       w += g
//   dense_sgd       w -= 0.1 * (w - target): gradient descent on a parabola
//   sparse_sgd      1024 rows of 64 floats of a table of 256 MB: looked up, their loss differentiated, ScatterSub
//   sparse_adagrad  the same with SparseApplyAdagrad: two tables

#include <weir/weir.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace weir;

namespace {

constexpr int64_t kDense = 1 << 20, kRows = 1 << 20, kWidth = 64, kBatch = 1024;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Tensor uniform(const Shape& shape) {
  Tensor t(float32, shape);
  std::mt19937 generator(0);
  std::uniform_real_distribution<float> distribution(-1, 1);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<float>()[i] = distribution(generator);
  return t;
}

std::vector<Tensor> batches(unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<Tensor> all;
  for (int i = 0; i < 64; ++i) {
    Tensor ids(int32, {kBatch});
    for (int64_t k = 0; k < kBatch; ++k) ids.mutable_data<int32_t>()[k] = static_cast<int32_t>(generator() % kRows);
    all.push_back(std::move(ids));
  }
  return all;
}

struct Model {
  Operation train;
  Output ids = {};  // fed, when there are any
};

using Make = Model (*)(Graph&);

Model dense_apply(Graph& g) {
  Variable w = g.variable("w", zeros(g, {kDense}, float32));
  Output step =
      NodeBuilder("ApplyGradientDescent").input(w.handle()).input(0.1f).input(g.constant(uniform({kDense}))).output();
  return {step.op()};
}

Model dense_add(Graph& g) {
  Variable w = g.variable("w", zeros(g, {kDense}, float32));
  return {assign_add(w, g.constant(uniform({kDense}))).op()};
}

Model dense_sgd(Graph& g) {
  Variable w = g.variable("w", zeros(g, {kDense}, float32));
  Output grad = w - g.constant(uniform({kDense}));
  return {NodeBuilder("ApplyGradientDescent").input(w.handle()).input(0.1f).input(grad).build()};
}

Output row_loss(Graph& g, Output& ids) {
  Variable table = g.variable("table", zeros(g, {kRows, kWidth}, float32));
  ids = g.placeholder(int32, {kBatch});
  return reduce_sum(square(nn::embedding_lookup({table}, ids) - 1.f));
}

Model sparse_sgd(Graph& g) {
  Model model;
  Output loss = row_loss(g, model.ids);
  model.train = train::GradientDescent(0.1f).minimize(loss);
  return model;
}

Model sparse_adagrad(Graph& g) {
  Model model;
  Output loss = row_loss(g, model.ids);
  model.train = train::Adagrad(0.1f).minimize(loss);
  return model;
}

void measure(const std::string& name, Make make, int threads, double seconds) {
  Graph g;
  Model model = make(g);
  Session session(g);
  session.run(g.global_variables_initializer());
  const bool fed = static_cast<bool>(model.ids);
  Session::Callable step = session.make_callable(
      {.feeds = fed ? std::vector<Output>{model.ids} : std::vector<Output>{}, .targets = {model.train}});
  constexpr int kBlocks = 3;
  std::vector<double> times;
  for (int block = -1; block < kBlocks; ++block) {  // the first is for warming up
    std::atomic<bool> stop{false};
    std::atomic<int64_t> updates{0};
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        const std::vector<Tensor> ids = fed ? batches(static_cast<unsigned>(t)) : std::vector<Tensor>(1);
        int64_t done = 0;
        for (; !stop; ++done) step.call({&ids[static_cast<size_t>(done) % ids.size()], fed ? 1u : 0u}, {});
        updates += done;
      });
    }
    const double begin = now();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds / kBlocks));
    stop = true;
    for (std::thread& worker : workers) worker.join();
    if (block >= 0) times.push_back((now() - begin) / static_cast<double>(updates));
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"system\": \"weir\", \"workload\": \"%s\", \"median_us\": %.2f, \"best_us\": %.2f}\n", name.c_str(),
              1e6 * times[times.size() / 2], 1e6 * times.front());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Make> workloads = {{"dense_apply", dense_apply},
                                                 {"dense_add", dense_add},
                                                 {"dense_sgd", dense_sgd},
                                                 {"sparse_sgd", sparse_sgd},
                                                 {"sparse_adagrad", sparse_adagrad}};
  int threads = 4;
  double seconds = 6;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--threads") && i + 1 < argc) {
      threads = std::atoi(argv[++i]);
    } else if (!std::strcmp(argv[i], "--seconds") && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else {
      names.emplace_back(argv[i]);
    }
  }
  for (const std::string& name : names) {
    auto found = workloads.find(name);
    if (found == workloads.end()) {
      std::fprintf(stderr, "there is no workload '%s'\n", name.c_str());
      return 1;
    }
    measure(name, found->second, threads, seconds);
  }
}
