// Eight threads do at random what programs do: run, run with new shapes, wait at queues, stop runs, run into timeouts,
// add nodes, and close sessions under each other. Nothing may hang, crash or race; what can be computed must be right.
// WEIR_STRESS_SECONDS says for how long; the thread sanitizer's run takes a minute.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>

#include "weir/queue_ops.h"
#include "weir/weir.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

std::chrono::milliseconds duration() {
  const char* seconds = std::getenv("WEIR_STRESS_SECONDS");
  return seconds ? std::chrono::seconds(std::atoi(seconds)) : 2s;
}

Tensor ones(const Shape& shape) {
  Tensor t = Tensor::zeros(float32, shape);
  std::fill_n(t.mutable_data<float>(), t.elements(), 1.f);
  return t;
}

class Stress {
 public:
  Stress() : session_(std::make_shared<Session>(g_, options())) { initialize(*session_); }

  void run(int threads, std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([this, t, end] {
        std::mt19937 random(static_cast<unsigned>(t) + 1);
        while (std::chrono::steady_clock::now() < end) act(random);
      });
    }
    for (std::thread& thread : all) thread.join();
  }

 private:
  static SessionOptions options() { return {.intra_op_parallelism_threads = 2, .virtual_gpus = {.count = 1}}; }
  void initialize(Session& session) { session.run(init_); }

  std::shared_ptr<Session> session() {
    std::shared_lock lock(mutex_);
    return session_;
  }

  // One action; errors that others bring about (a session closed, a run stopped, a wait too long) are expected.
  void act(std::mt19937& random) {
    std::shared_ptr<Session> session = this->session();
    try {
      switch (random() % 16) {
        case 0:
          return replace_session();
        case 1:
          return add_nodes(*session, random);
        case 2:
          return stop_a_wait(*session);
        case 3:
          return run_into_timeout(*session);
        case 4:
          return fail(*session);
        case 5:
        case 6:
          return pass_on(*session, random);
        case 7:
          return train_rows(*session, random);
        case 8:
          return cross_devices(*session, random);
        default:
          return train(*session, random);
      }
    } catch (const Error& e) {
      const bool expected =
          e.code() == Code::Cancelled || e.code() == Code::DeadlineExceeded ||
          (e.code() == Code::FailedPrecondition && e.message().find("uninitialized") != std::string::npos);
      EXPECT_TRUE(expected) << e.what();
    }
  }

  static Tensor rows(std::mt19937& random) { return ones({static_cast<int64_t>(random() % 9 + 1), 3}); }

  void train(Session& session, std::mt19937& random) {
    Tensor value = session.run(cost_, {{x_, rows(random)}}, {train_});
    EXPECT_TRUE(std::isfinite(value.scalar<float>()));
  }
  void train_rows(Session& session, std::mt19937& random) {
    std::vector<int32_t> wanted(random() % 7 + 1);
    for (int32_t& row : wanted) row = static_cast<int32_t>(random() % 100);
    session.run(train_rows_, {{rows_, wanted}});
  }
  void cross_devices(Session& session, std::mt19937& random) {
    Tensor x = rows(random);
    const auto wanted = static_cast<float>(x.elements() * 2);
    EXPECT_EQ(session.run(crossed_, {{x_, x}}).scalar<float>(), wanted);
  }
  void pass_on(Session& session, std::mt19937& random) {
    const auto number = static_cast<int32_t>(random() % 1000);
    EXPECT_GE(session.run(taken_, {{number_, number}}, {put_}).scalar<int32_t>(), 0);
  }
  void stop_a_wait(Session& session) {
    std::stop_source source;
    std::thread stops([&] { source.request_stop(); });
    try {
      session.run(never_, {}, {}, {.stop = source.get_token()});
      ADD_FAILURE() << "nothing is ever put into that queue";
    } catch (...) {
      stops.join();
      throw;
    }
    stops.join();
  }
  void run_into_timeout(Session& session) { session.run(never_, {}, {}, {.timeout = 1ms}); }
  void fail(Session& session) {
    try {
      session.run({failing_, never_}, {{rows_, std::vector<int32_t>{1000}}});
    } catch (const Error& e) {
      if (e.code() != Code::InvalidArgument) throw;
    }
  }
  void add_nodes(Session& session, std::mt19937& random) {
    Output fresh;
    {
      std::lock_guard lock(building_);
      fresh = reduce_sum(x_ * static_cast<float>(random() % 5));
    }
    session.run(fresh, {{x_, rows(random)}});
  }
  void replace_session() {
    auto fresh = std::make_shared<Session>(g_, options());
    initialize(*fresh);
    std::shared_ptr<Session> old;
    {
      std::lock_guard lock(mutex_);
      old = std::exchange(session_, std::move(fresh));
    }
    old->close();
  }

  Graph g_;
  Output x_ = g_.placeholder(float32, {kUnknown, 3}, "x");
  Variable w_ = g_.variable("w", ones({3, 4}));
  Output cost_ = reduce_mean(square(nn::relu(matmul(x_, w_)) - 1.f));
  Operation train_ = train::GradientDescent(0.01f).minimize(cost_);
  Output rows_ = g_.placeholder(int32, {kUnknown}, "rows");
  Variable table_ = g_.variable("table", ones({100, 4}));
  Output looked_up_ = gather(table_, rows_);
  Operation train_rows_ = train::Adagrad(0.01f).minimize(reduce_sum(looked_up_), {.var_list = {table_}});
  Output failing_ = gather(g_.constant(ones({3})), rows_);
  FifoQueue numbers_{g_, {int32}}, empty_{g_, {int32}};
  Output number_ = g_.placeholder(int32, {}, "number");
  Operation put_ = numbers_.enqueue({number_ * 1});
  Output taken_ = numbers_.dequeue()[0], never_ = empty_.dequeue()[0];
  Output crossed_ = on_gpu();
  Operation init_ = g_.global_variables_initializer();

  Output on_gpu() {
    Scope device = g_.device("/gpu:0");
    return reduce_sum(x_ * 2.f);
  }

  std::mutex building_;
  std::shared_mutex mutex_;
  std::shared_ptr<Session> session_;
};

TEST(Stress, NothingHangsOrRaces) { Stress().run(8, duration()); }

}  // namespace
}  // namespace weir
