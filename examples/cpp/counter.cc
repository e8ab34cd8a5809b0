// A variable keeps its value from run to run.

#include <weir/weir.h>

#include <cstdio>

using namespace weir;

void run() {
  Graph g;
  Variable state = g.variable("counter", Tensor(int32_t{0}));
  Output update = assign(state, add(state, 1));

  Session session(g);
  auto print_state = [&] { std::printf("%d\n", session.run(state).scalar<int32_t>()); };
  try {
    session.run(state);
  } catch (const Error& e) {
    if (e.code() != Code::FailedPrecondition) throw;
    std::printf("not initialised yet\n");
  }
  session.run(g.global_variables_initializer());
  print_state();
  for (int i = 0; i < 3; ++i) {
    session.run(update.op());
    print_state();
  }
}

int main(int argc, char**) {
  if (argc != 1) {
    std::fprintf(stderr, "usage: counter\n");
    return 2;
  }
  try {
    run();
  } catch (const Error& e) {
    std::fprintf(stderr, "counter: %s\n", e.what());
    return 1;
  }
}
