// Fits y = 2x + noise with thirty steps of gradient descent.
//
//   linear [--logdir DIR]    DIR: where TensorBoard finds the graph, the cost and the weight

#include <weir/weir.h>

#include <cstdio>
#include <optional>
#include <random>
#include <string_view>

using namespace weir;

void fit(const char* logdir) {
  // 101 points on a line of slope 2, with noise.
  std::vector<float> xs, ys;
  std::mt19937 generator(1);
  std::normal_distribution<float> noise(0, 0.3f);
  for (int i = 0; i <= 100; ++i) {
    xs.push_back(-1 + 0.02f * static_cast<float>(i));
    ys.push_back(2 * xs.back() + noise(generator));
  }

  Graph g;
  Output x = g.placeholder(float32, {kUnknown}, "x");
  Output y = g.placeholder(float32, {kUnknown}, "y");
  Variable w = g.variable("W", 0.5f);
  Output cost = reduce_mean(square(w * x - y));
  Operation train = train::GradientDescent(0.3f).minimize(cost);
  summary::scalar("cost", cost);
  summary::histogram("W_values", w);
  Output summaries = summary::merge_all(g);

  Session session(g);
  session.run(g.global_variables_initializer());
  std::optional<summary::FileWriter> events;
  if (logdir) events.emplace(logdir, g);
  for (int step = 0; step < 30; ++step) {
    auto [c, s] = session.run({cost, summaries}, {{x, xs}, {y, ys}}, {train});
    if (events) events->add(s, step);
    std::printf("step %2d  cost %.6f\n", step, static_cast<double>(c.scalar<float>()));
  }
  if (events) events->close();
  std::printf("W = %.4f\n", static_cast<double>(session.run(w).scalar<float>()));
}

int main(int argc, char** argv) {
  const bool logs = argc == 3 && std::string_view(argv[1]) == "--logdir";
  if (argc != 1 && !logs) {
    std::fprintf(stderr, "usage: linear [--logdir DIR]\n");
    return 2;
  }
  try {
    fit(logs ? argv[2] : nullptr);
  } catch (const Error& e) {
    std::fprintf(stderr, "linear: %s\n", e.what());
    return 1;
  }
}
