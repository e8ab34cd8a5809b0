// Between-graph training: every worker is a process of its own that builds the same graph, with the variables on the
// parameter servers, and trains with its own data. The first worker is the chief: it initialises or restores, and
// saves.
//
//   for p in ps:0 worker:0 worker:1; do
//     between_graph ps=localhost:2222,worker=localhost:2223,localhost:2224 ${p%:*} ${p#*:} [FOLDER [STEPS]] &
//   done

#include <weir/weir.h>

#include <cstdio>
#include <cstdlib>
#include <random>

using namespace weir;

namespace {

void train_as_worker(const train::Server& server, bool is_chief, const std::string& folder, int64_t steps) {
  Graph g;
  Output x, y, loss;
  Variable w, b, global_step;
  Operation train;
  {
    auto on_servers = train::replica_device_setter(g, server.options().cluster);
    global_step = train::get_or_create_global_step(g);
    w = g.get_variable("w", Shape{}, {.initializer = zeros_initializer()});
    b = g.get_variable("b", Shape{}, {.initializer = zeros_initializer()});
    x = g.placeholder(float32, {kUnknown}, "x");
    y = g.placeholder(float32, {kUnknown}, "y");
    loss = reduce_mean(square(w * x + b - y), {}, "loss");
    train = train::GradientDescent(0.1f).minimize(loss, {.global_step = global_step});
  }

  train::MonitoredTrainingSession session(g, {.is_chief = is_chief,
                                              .checkpoint_dir = folder,
                                              .hooks = {train::StopAtStepHook({.last_step = steps})},
                                              .save_checkpoints = {.steps = 100},
                                              .session = {.target = server.target()}});
  std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> xs(32), ys(32);
  session.run_steps([&] {
    for (size_t i = 0; i < xs.size(); ++i) {
      xs[i] = uniform(random);
      ys[i] = 3 * xs[i] + 2;
    }
    auto [value, slope, offset, step] =
        session.run({loss, w.value(), b.value(), global_step.value()}, {{x, xs}, {y, ys}}, {train});
    if (step.scalar<int64_t>() % 100 != 0) return;
    std::printf("step %lld  loss %.5f  w %.3f  b %.3f\n", static_cast<long long>(step.scalar<int64_t>()),
                static_cast<double>(value.scalar<float>()), static_cast<double>(slope.scalar<float>()),
                static_cast<double>(offset.scalar<float>()));
    std::fflush(stdout);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 6) {
    std::fprintf(stderr, "usage: between_graph CLUSTER JOB TASK [FOLDER [STEPS]]\n");
    return 2;
  }
  try {
    const std::string job = argv[2];
    const int task = std::atoi(argv[3]);
    train::Server server({.cluster = train::parse_cluster(argv[1]), .job = job, .task = task});
    if (job == "ps") {
      server.join();
    } else {
      train_as_worker(server, task == 0, argc > 4 ? argv[4] : "", argc > 5 ? std::atoll(argv[5]) : 1000);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "between_graph: %s\n", error.what());
    return 1;
  }
}
