#include <weir/weir.h>

#include <cstdio>

int main() {
  weir::Graph g;
  weir::Output x = g.placeholder(weir::float32, {weir::kUnknown}, "x");
  weir::Output y = weir::reduce_sum(x * 2);
  weir::Session session(g);
  std::printf("%g\n", session.run(y, {{x, std::vector<float>{1, 2, 3}}}).scalar<float>());
}
