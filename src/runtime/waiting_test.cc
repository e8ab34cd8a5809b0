// Runs that wait: for queues that other runs, or the same one, fill and empty.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/check_op.h"
#include "weir/queue_ops.h"
#include "weir/weir.h"

namespace weir {
namespace {

using testing::expect_error;
using testing::expect_late;
using namespace std::chrono_literals;

struct Waiting : ::testing::Test {
  Graph g;
  FifoQueue queue{g, {float32}};
  Output taken = queue.dequeue()[0];

  // Runs `work` on another thread and gives the code that it ended with.
  struct Beside {
    std::atomic<int> code{-1};
    std::thread thread;
    template <class Work>
    explicit Beside(Work work)
        : thread([this, work] {
            try {
              work();
              code = static_cast<int>(Code::Ok);
            } catch (const Error& e) {
              code = static_cast<int>(e.code());
            }
          }) {}
    Code join() {
      thread.join();
      return static_cast<Code>(code.load());
    }
  };
  static void until(const std::function<bool()>& ready) {
    while (!ready()) std::this_thread::yield();
  }
};

TEST_F(Waiting, ARunCanTakeWhatItPutsInItself) {
  Operation put = queue.enqueue({3.f});
  Session session(g);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(session.run(taken, {}, {put}).scalar<float>(), 3);
}

TEST_F(Waiting, WhatDoesNotDependOnTheWaitRunsMeanwhile) {
  // The queue is filled by a run that can only begin when the counter, beside the wait, has counted.
  Variable counter = g.variable("counter", 0.f);
  Output counted = assign_add(counter, 1.f);
  Operation put = queue.enqueue({5.f});
  Session session(g);
  session.run(g.global_variables_initializer());
  Beside taker([&] {
    auto [value, count] = session.run({taken * 2.f, counted});
    EXPECT_EQ(value.scalar<float>(), 10);
  });
  until([&] { return session.run(counter).scalar<float>() == 1; });
  session.run(put);
  EXPECT_EQ(taker.join(), Code::Ok);
}

TEST_F(Waiting, TwoWaitsEndInEitherOrder) {
  FifoQueue other(g, {float32}), answers(g, {float32});
  // Each answer is put in as soon as its own wait has ended.
  Operation first = answers.enqueue({taken}), second = answers.enqueue({other.dequeue()[0]});
  Operation both_answers = g.group(std::vector<Operation>{first, second});
  Output answer = answers.dequeue()[0];
  Operation put = queue.enqueue({1.f}), put_other = other.enqueue({2.f});
  Session session(g);
  for (bool swapped : {false, true}) {
    Beside both([&] { session.run(both_answers); });
    session.run(swapped ? put_other : put);
    EXPECT_EQ(session.run(answer).scalar<float>(), swapped ? 2 : 1);
    session.run(swapped ? put : put_other);
    EXPECT_EQ(session.run(answer).scalar<float>(), swapped ? 1 : 2);
    EXPECT_EQ(both.join(), Code::Ok);
  }
}

TEST_F(Waiting, AWaitInALoopHoldsUpNothingElse) {
  auto sums =
      while_loop([](const std::vector<Output>& v) { return v[0] < 4; },
                 [&](const std::vector<Output>& v) {
                   return std::vector<Output>{v[0] + 1, v[1] + reshape(queue.dequeue()[0], std::vector<int32_t>{})};
                 },
                 {g.constant(0), g.constant(0.f)});
  Variable counter = g.variable("counter", 0.f);
  Output counted = assign_add(counter, 1.f);
  Operation put = queue.enqueue({2.f});
  Session session(g);
  session.run(g.global_variables_initializer());
  Beside loop([&] { EXPECT_EQ(session.run({sums[1], counted})[0].scalar<float>(), 8); });
  until([&] { return session.run(counter).scalar<float>() == 1; });
  for (int i = 0; i < 4; ++i) session.run(put);
  EXPECT_EQ(loop.join(), Code::Ok);
}

TEST_F(Waiting, StepsAfterAWaitRunInParts) {
  FifoQueue images(g, {float32}, {.capacity = 2, .shapes = {Shape{8, 4}}});
  Variable w = g.variable("w", Tensor::zeros(float32, {4, 3}));
  Output x = images.dequeue()[0], y;
  {
    Scope device = g.device("/gpu:0");
    y = nn::relu(matmul(x, w) + 1.f);
  }
  Output loss = reduce_sum(y);
  Operation put = images.enqueue({Tensor::zeros(float32, {8, 4})});
  Session session(g, {.virtual_gpus = {.count = 2}});
  session.run(g.global_variables_initializer());
  for (int i = 0; i < 10; ++i) {
    session.run(put);
    EXPECT_EQ(session.run(loss).scalar<float>(), 24);
  }
}

TEST_F(Waiting, AFullQueueHoldsItsProducerBack) {
  FifoQueue small(g, {float32}, {.capacity = 1});
  Operation put = small.enqueue({1.f});
  Output take = small.dequeue()[0], size = small.size();
  Session session(g);
  session.run(put);
  Beside second([&] { session.run(put); });
  EXPECT_EQ(session.run(size).scalar<int32_t>(), 1);
  session.run(take);
  EXPECT_EQ(second.join(), Code::Ok);
  EXPECT_EQ(session.run(size).scalar<int32_t>(), 1);
}

TEST_F(Waiting, ClosingTheSessionEndsTheWait) {
  auto session = std::make_unique<Session>(g);
  Beside taker([&] { session->run(taken); });
  std::this_thread::sleep_for(5ms);
  session->close();
  EXPECT_EQ(taker.join(), Code::Cancelled);
  expect_error([&] { session->run(taken); }, Code::Cancelled, "closed");
}

TEST_F(Waiting, TheProgramsTokenEndsTheWait) {
  Session session(g);
  std::stop_source source;
  Beside taker([&] { session.run(taken, {}, {}, {.stop = source.get_token()}); });
  source.request_stop();
  EXPECT_EQ(taker.join(), Code::Cancelled);
  session.run(queue.enqueue({7.f}));  // the session goes on, and nobody took the element
  EXPECT_EQ(session.run(taken).scalar<float>(), 7);
}

TEST_F(Waiting, TheDeadlineEndsTheWaitAndNamesIt) {
  Session session(g);
  auto take = [&](std::chrono::milliseconds timeout) { session.run(taken, {}, {}, {.timeout = timeout}); };
  expect_late(take, "waits for QueueDequeueV2");
  expect_late(take, "queue 'fifo_queue' (0");
}

TEST_F(Waiting, AnErrorElsewhereEndsTheWait) {
  Output x = g.placeholder(int32, {}, "x");
  Output bad = gather(g.constant(Tensor::zeros(float32, {3})), x);
  Session session(g);
  expect_error([&] { session.run({taken, bad}, {{x, 5}}); }, Code::InvalidArgument, "Gather");
}

TEST_F(Waiting, AnErrorAfterOneWaitEndsAnother) {
  FifoQueue indices(g, {int32}, {.shapes = {Shape{}}});
  Output bad = gather(g.constant(Tensor::zeros(float32, {3})), indices.dequeue()[0]);
  Operation put = indices.enqueue({5});
  Session session(g);
  expect_error([&] { session.run({taken, bad}, {}, {put}); }, Code::InvalidArgument, "Gather");
}

TEST_F(Waiting, AClosedQueueGivesWhatItHasAndEndsWhoWants) {
  Operation put = queue.enqueue({1.f}), close = queue.close();
  Output closed = queue.is_closed();
  Session session(g);
  session.run(put);
  EXPECT_FALSE(session.run(closed).scalar<bool>());
  session.run(close);
  EXPECT_TRUE(session.run(closed).scalar<bool>());
  EXPECT_EQ(session.run(taken).scalar<float>(), 1);
  expect_error([&] { session.run(taken); }, Code::OutOfRange, "is closed and has insufficient elements (requested 1");
  expect_error([&] { session.run(put); }, Code::Cancelled, "is closed.");
}

TEST_F(Waiting, ClosingAQueueEndsThoseWhoWaitAtIt) {
  FifoQueue small(g, {float32}, {.capacity = 1});
  Operation put = small.enqueue({1.f}), close = small.close({.cancel_pending_enqueues = true}),
            close_other = queue.close();
  Session session(g);
  Beside taker([&] { session.run(taken); });
  std::this_thread::sleep_for(2ms);
  session.run(close_other);
  EXPECT_EQ(taker.join(), Code::OutOfRange);
  session.run(put);
  Beside putter([&] { session.run(put); });
  std::this_thread::sleep_for(2ms);
  session.run(close);
  EXPECT_EQ(putter.join(), Code::Cancelled);
}

TEST_F(Waiting, RefusesElementsThatDoNotFit) {
  FifoQueue typed(g, {float32}, {.shapes = {Shape{2}}});
  Output x = g.placeholder(float32, Shape::unknown(), "x");
  Operation put = typed.enqueue({x});
  Session session(g);
  expect_error(
      [&] {
        session.run(put, {{x, std::vector<float>{1, 2, 3}}});
      },
      Code::InvalidArgument, "Shape mismatch in tuple component 0. Expected [2], got [3]");
}

TEST_F(Waiting, ElementsKeepTheirValuesWhenTheirMemoryIsUsedAgain) {
  Output x = g.placeholder(float32, {kUnknown}, "x");
  Operation put = queue.enqueue({nn::relu(x * 2.f)});
  Session session(g);
  for (float i = 0; i < 8; ++i) session.run(put, {{x, std::vector<float>{i, i}}});
  for (float i = 0; i < 8; ++i) {
    Tensor value = session.run(taken);
    EXPECT_EQ(value.data<float>()[0], 2 * i);
    EXPECT_EQ(value.data<float>()[1], 2 * i);
  }
}

TEST_F(Waiting, ManyThreadsPassEverythingOnOnce) {
  FifoQueue numbers(g, {int32}, {.capacity = 3, .shapes = {Shape{}}});
  Output x = g.placeholder(int32, {}, "x");
  Operation put = numbers.enqueue({x * 1});
  Output take = numbers.dequeue()[0] + 0;
  constexpr int kThreads = 4, kEach = 200;
  std::atomic<int64_t> sum{0};
  Session session(g);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) session.run(put, {{x, t * kEach + i}});
    });
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) sum += session.run(take).scalar<int32_t>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  constexpr int64_t kAll = kThreads * kEach;
  EXPECT_EQ(sum, kAll * (kAll - 1) / 2);
}

}  // namespace
}  // namespace weir
