// mpirun -n 2 build/release/bin/bench_collectives [--steps N] [--megabytes M]: sums over processes by Weir beside plain
// MPI on the same processes, in turn: one large tensor, and many small ones, which Weir fuses; and a training step
// whose gradients are reduced while it computes, beside the same step that computes first.
#define OMPI_SKIP_MPICXX 1
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "weir/weir.h"

namespace {

using namespace weir;

double milliseconds(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  work();
  double mine = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count(), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);  // a step takes as long as its slowest rank
  return all;
}

// The medians of two ways to do the same, in turn.
void compare(const std::string& what, int steps, const std::function<void()>& plain,
             const std::function<void()>& ours) {
  std::vector<double> first, second;
  for (int i = 0; i < steps + 3; ++i) {
    const double a = milliseconds(plain), b = milliseconds(ours);
    if (i < 3) continue;
    first.push_back(a);
    second.push_back(b);
  }
  std::ranges::sort(first);
  std::ranges::sort(second);
  const double a = first[first.size() / 2], b = second[second.size() / 2];
  if (distributed::rank() == 0) fmt::print("{:36} {:9.3f} ms {:9.3f} ms   {:.3f}\n", what, a, b, b / a);
}

void one_tensor(size_t bytes, int steps) {
  const size_t count = bytes / sizeof(float);
  std::vector<float> in(count, 1.f), out(count);
  Graph g;
  Variable v = g.variable("v", Tensor::zeros(float32, {static_cast<int64_t>(count)}));
  Output sum = distributed::allreduce(v, {.reduction = distributed::Reduction::Sum});
  Session session(g);
  session.run(g.global_variables_initializer());
  auto step = session.make_callable({.targets = {sum.op()}});
  compare(
      fmt::format("one tensor of {} MB", bytes >> 20), steps,
      [&] { MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); },
      [&] { step(); });
}

void many_tensors(int tensors, size_t bytes, int steps) {
  const size_t count = bytes / sizeof(float);
  std::vector<std::vector<float>> in(static_cast<size_t>(tensors), std::vector<float>(count, 1.f)), out = in;
  Graph g;
  std::vector<Operation> sums;
  for (int i = 0; i < tensors; ++i) {
    Variable v = g.variable(fmt::format("v{}", i), Tensor::zeros(float32, {static_cast<int64_t>(count)}));
    sums.push_back(distributed::allreduce(v, {.reduction = distributed::Reduction::Sum}).op());
  }
  Session session(g);
  session.run(g.global_variables_initializer());
  auto step = session.make_callable({.targets = sums});
  compare(
      fmt::format("{} tensors of {} KB, one by one", tensors, bytes >> 10), steps,
      [&] {
        for (size_t i = 0; i < in.size(); ++i) {
          MPI_Allreduce(in[i].data(), out[i].data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        }
      },
      [&] { step(); });
}

// Eight layers of 1024 units: 34 MB of gradients.
void training(int steps) {
  Graph g;
  constexpr int kUnits = 1024;
  Output x = g.variable("x", Tensor::zeros(float32, {64, kUnits}), {.trainable = false});
  for (int layer = 0; layer < 8; ++layer) {
    Variable w = g.variable(fmt::format("w{}", layer), Tensor::zeros(float32, {kUnits, kUnits}));
    x = nn::relu(matmul(x, w));
  }
  Output loss = reduce_mean(square(x));
  train::GradientDescent descent(0.1f);
  const train::GradsAndVars local = descent.compute_gradients(loss);
  auto step_of = [&](bool first_all) {
    std::vector<Gradient> own;
    for (const auto& [gradient, variable] : local) own.push_back(gradient);
    if (first_all) own = tuple(own);
    train::GradsAndVars pairs;
    for (size_t i = 0; i < own.size(); ++i) {
      pairs.emplace_back(distributed::allreduce_gradient(own[i]), local[i].second);
    }
    return descent.apply_gradients(pairs);
  };
  const Operation after = step_of(true), meanwhile = step_of(false);
  Session session(g);
  session.run(g.global_variables_initializer());
  auto plain = session.make_callable({.targets = {after}}), ours = session.make_callable({.targets = {meanwhile}});
  compare(
      "a step, reducing after or meanwhile", steps, [&] { plain(); }, [&] { ours(); });
}

}  // namespace

int main(int argc, char** argv) {
  int steps = 20, megabytes = 64;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--steps") steps = std::atoi(argv[i + 1]);
    if (option == "--megabytes") megabytes = std::atoi(argv[i + 1]);
  }
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  weir::distributed::init({.transport = "mpi"});
  if (weir::distributed::rank() == 0) {
    fmt::print("{} processes{:26} {:>9}    {:>9}      ratio\n", weir::distributed::size(), "", "plain", "Weir");
  }
  one_tensor(static_cast<size_t>(megabytes) << 20, steps);
  many_tensors(160, 64 << 10, steps);
  training(steps);
  weir::distributed::shutdown();
  MPI_Finalize();
}
