// Training that can be killed at any moment and goes on where its last checkpoint stands.
//
//   resume FOLDER [steps]     run it, kill it, run it again

#include <weir/weir.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

using namespace weir;

void train_and_save(const std::string& folder, int64_t steps) {
  std::filesystem::create_directories(folder);
  std::vector<float> xs;
  for (int i = 0; i <= 100; ++i) xs.push_back(-1 + 0.02f * static_cast<float>(i));

  Graph g;
  Output x = g.placeholder(float32, {kUnknown});
  Variable w = g.variable("w", 0.0f);
  Variable b = g.variable("b", 1.0f);
  Variable global_step = g.variable("global_step", Tensor(int32_t{0}), {.trainable = false});
  Output loss = reduce_mean(square(w * x + b - (2 * x - 1)));
  Operation train = train::Momentum(0.1f, 0.9f).minimize(loss, {.global_step = global_step});
  train::Saver saver(g, {.max_to_keep = 3});

  Session session(g);
  auto current_step = [&] { return session.run(global_step).scalar<int32_t>(); };
  if (auto checkpoint = train::latest_checkpoint(folder)) {
    saver.restore(session, *checkpoint);
    std::printf("goes on after step %d\n", current_step());
  } else {
    session.run(g.global_variables_initializer());
    std::printf("begins\n");
  }
  for (int32_t step = current_step(); step < steps;) {
    Tensor value = session.run(loss, {{x, xs}}, {train});
    step = current_step();
    if (step % 5 != 0) continue;
    std::string path = saver.save(session, folder + "/model.ckpt", {.global_step = step});
    std::printf("step %d  loss %.5f  %s\n", step, static_cast<double>(value.scalar<float>()),
                std::filesystem::path(path).filename().c_str());
    std::fflush(stdout);
  }
  auto [slope, offset] = session.run({w.value(), b.value()});
  std::printf("w = %.4f, b = %.4f\n", static_cast<double>(slope.scalar<float>()),
              static_cast<double>(offset.scalar<float>()));
}

int main(int argc, char** argv) {
  char* end = nullptr;
  const long long steps = argc == 3 ? std::strtoll(argv[2], &end, 10) : 20;
  if (argc < 2 || argc > 3 || steps <= 0 || (end && *end != '\0')) {
    std::fprintf(stderr, "usage: resume FOLDER [steps]\n");
    return 2;
  }
  try {
    train_and_save(argv[1], steps);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "resume: %s\n", e.what());
    return 1;
  }
}
