// Placeholders get their values when the graph is run.

#include <weir/weir.h>

#include <cstdio>
#include <vector>

using namespace weir;

double number(const Tensor& value) { return static_cast<double>(value.scalar<float>()); }

void run() {
  Graph g;
  Output a = g.placeholder(float32, Shape::unknown(), "a");
  Output b = g.placeholder(float32, Shape::unknown(), "b");
  Output total = add(a, b);
  Output product = multiply(a, b);

  Session session(g);
  std::printf("3 + 4.5 = %g\n", number(session.run(total, {{a, 3.0f}, {b, 4.5f}})));
  Tensor sums = session.run(total, {{a, std::vector<float>{1, 3}}, {b, std::vector<float>{2, 4}}});
  std::printf("[1, 3] + [2, 4] = [%.1f, %.1f]\n", static_cast<double>(sums.data<float>()[0]),
              static_cast<double>(sums.data<float>()[1]));
  // Several values in one run.
  auto [sum, times] = session.run({total, product}, {{a, 6.0f}, {b, 7.0f}});
  std::printf("6 + 7 = %g, 6 * 7 = %g\n", number(sum), number(times));
  // Any tensor can be fed, not only placeholders.
  std::printf("with the sum replaced: %g\n", number(session.run(total * 2, {{total, 21.0f}})));
  try {
    session.run(total, {{a, 3.0f}});
  } catch (const Error& e) {
    if (e.code() != Code::InvalidArgument) throw;
    std::printf("b was not fed\n");
  }
}

int main(int argc, char**) {
  if (argc != 1) {
    std::fprintf(stderr, "usage: placeholders\n");
    return 2;
  }
  try {
    run();
  } catch (const Error& e) {
    std::fprintf(stderr, "placeholders: %s\n", e.what());
    return 1;
  }
}
