// Fits y = 2x + noise with thirty steps of gradient descent.

#include <weir/weir.h>

#include <cstdio>
#include <random>

using namespace weir;

int main() {
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

  Session session(g);
  session.run(g.global_variables_initializer());
  for (int step = 0; step < 30; ++step) {
    Tensor c = session.run(cost, {{x, xs}, {y, ys}}, {train});
    std::printf("step %2d  cost %.6f\n", step, static_cast<double>(c.scalar<float>()));
  }
  std::printf("W = %.4f\n", static_cast<double>(session.run(w).scalar<float>()));
}
