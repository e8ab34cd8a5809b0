#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir {
namespace {

using testing::expect_error;
using testing::expect_late;
using Ints = std::vector<int32_t>;

Ints ints(const Tensor& t) { return {t.data<int32_t>().begin(), t.data<int32_t>().end()}; }

TEST(FifoQueue, GivesElementsInTheOrderInWhichTheyCame) {
  Graph g;
  FifoQueue queue(g, {int32, float32}, {.shapes = {Shape{}, Shape{2}}});
  Operation put = queue.enqueue_many({Ints{1, 2, 3}, {{1., 1.}, {2., 2.}, {3., 3.}}});
  auto one = queue.dequeue(), two = queue.dequeue_many(2);
  EXPECT_EQ(two[1].shape(), (Shape{2, 2}));
  Session session(g);
  session.run(put);
  auto first = session.run({one[0], one[1]});
  EXPECT_EQ(first[0].scalar<int32_t>(), 1);
  auto rest = session.run({two[0], two[1]});
  EXPECT_EQ(ints(rest[0]), (Ints{2, 3}));
  EXPECT_EQ(rest[1].data<float>()[3], 3);
}

TEST(FifoQueue, KeepsItsOrderWhenItGrowsAndWhenABatchGoesBack) {
  Graph g;
  FifoQueue queue(g, {int32}, {.shapes = {Shape{}}});
  Output x = g.placeholder(int32, {kUnknown}, "x");
  Operation put = queue.enqueue_many({x});
  Output three = queue.dequeue_many(3)[0], many = queue.dequeue_many(60)[0];
  Session session(g);
  Ints expected;
  for (int i = 0; i < 20; ++i) {
    session.run(put, {{x, Ints{4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3}}});
    EXPECT_EQ(ints(session.run(three)), (Ints{3 * i, 3 * i + 1, 3 * i + 2}));
  }
  // A batch that never becomes complete takes what there is, and gives it back.
  expect_late([&](std::chrono::milliseconds timeout) { session.run(many, {}, {}, {.timeout = timeout}); },
              "queue_test.cc");
  EXPECT_EQ(ints(session.run(three)), (Ints{60, 61, 62}));
}

TEST(FifoQueue, LetsEmptyBatchesPassEvenWhenItIsClosed) {
  Graph g;
  FifoQueue queue(g, {int32}, {.shapes = {Shape{}}});
  Output x = g.placeholder(int32, {kUnknown}, "x");
  Operation put = queue.enqueue_many({x}), close = queue.close();
  Output none = queue.dequeue_many(0)[0];
  Session session(g);
  session.run(close);
  session.run(put, {{x, Tensor(int32, Shape{0})}});
  EXPECT_EQ(session.run(none).shape(), (Shape{0}));
}

TEST(FifoQueue, ClosingWaitsForWhoCameBefore) {
  Graph g;
  FifoQueue queue(g, {int32}, {.capacity = 2, .shapes = {Shape{}}});
  Operation put = queue.enqueue_many({Ints{1, 2, 3, 4}}), close = queue.close();
  Output closed = queue.is_closed(), all = queue.dequeue_many(4)[0], some = queue.dequeue_up_to(3)[0];
  Session session(g);
  std::thread putter([&] { session.run(put); });
  while (session.run(queue.size()).scalar<int32_t>() < 2) std::this_thread::yield();
  std::thread closer([&] { session.run(close); });
  EXPECT_FALSE(session.run(closed).scalar<bool>());
  EXPECT_EQ(ints(session.run(all)), (Ints{1, 2, 3, 4}));
  putter.join();
  closer.join();
  EXPECT_TRUE(session.run(closed).scalar<bool>());
  expect_error([&] { session.run(close); }, Code::Cancelled, "is already closed");
  expect_error([&] { session.run(some); }, Code::OutOfRange,
               "FIFOQueue 'fifo_queue' is closed and has insufficient elements (requested 3, current size 0)");
}

TEST(FifoQueue, GivesTheRestOfAClosedQueueToWhoWantsUpToSoMany) {
  Graph g;
  FifoQueue queue(g, {int32}, {.shapes = {Shape{}}});
  Operation put = queue.enqueue_many({Ints{1, 2, 3, 4, 5}}), close = queue.close();
  Output some = queue.dequeue_up_to(3)[0], many = queue.dequeue_many(3)[0];
  EXPECT_EQ(some.shape(), (Shape{kUnknown}));
  Session session(g);
  session.run(put);
  session.run(close);
  EXPECT_EQ(ints(session.run(some)), (Ints{1, 2, 3}));
  expect_error([&] { session.run(many); }, Code::OutOfRange, "requested 3, current size 2");
  EXPECT_EQ(ints(session.run(some)), (Ints{4, 5}));
}

TEST(FifoQueue, RefusesWhatDoesNotFit) {
  Graph g;
  FifoQueue queue(g, {int32}, {.shapes = {Shape{2}}}), any(g, {int32});
  Output x = g.placeholder(int32, Shape::unknown(), "x"), n = g.placeholder(int32, {}, "n");
  Operation put = queue.enqueue_many({x});
  Output take = queue.dequeue_many(n)[0], take_any = any.dequeue_many(n)[0];
  Session session(g);
  expect_error(
      [&] {
        session.run(put, {{x, Tensor(int32, Shape{4, 3})}});
      },
      Code::InvalidArgument, "Shape mismatch in tuple component 0. Expected [4,2], got [4,3]");
  expect_error([&] { session.run(put, {{x, 1}}); }, Code::InvalidArgument, "");
  expect_error([&] { session.run(take, {{n, -1}}); }, Code::InvalidArgument, "requested -1 < 0 elements");
  expect_error(
      [&] {
        session.run(take_any, {{n, 1}});
      },
      Code::InvalidArgument,
      "FIFOQueue's DequeueMany and DequeueUpTo require the components to have specified shapes.");
  expect_error([&] { queue.dequeue_many(-2); }, Code::InvalidArgument, "must be >= 0");
}

TEST(FifoQueue, IsSharedByNameWithWhoDescribesTheSame) {
  Graph g;
  FifoQueue a(g, {int32}, {.capacity = 3, .shared_name = "q"}), b(g, {int32}, {.capacity = 3, .shared_name = "q"});
  FifoQueue larger(g, {int32}, {.capacity = 4, .shared_name = "q"}),
      other(g, {float32}, {.capacity = 3, .shared_name = "q"});
  RandomShuffleQueue shuffled(g, {int32}, {{.capacity = 3, .shared_name = "q"}});
  Session session(g);
  session.run(a.enqueue({7}));
  EXPECT_EQ(session.run(b.dequeue()[0]).scalar<int32_t>(), 7);
  expect_error([&] { session.run(larger.size()); }, Code::InvalidArgument,
               "Shared queue 'q' has capacity 3 but requested capacity was 4");
  expect_error([&] { session.run(other.size()); }, Code::InvalidArgument, "component types");
  expect_error([&] { session.run(shuffled.size()); }, Code::InvalidArgument, "has type 'FIFOQueue'");
}

TEST(FifoQueue, StringsComeOutWhole) {
  Graph g;
  FifoQueue queue(g, {DType::String}, {.shapes = {Shape{}}});
  const std::string large(1000, 'x');
  Operation put = queue.enqueue_many({std::vector<std::string>{"a", large, "c"}});
  Output one = queue.dequeue()[0], two = queue.dequeue_many(2)[0];
  Session session(g);
  session.run(put);
  EXPECT_EQ(session.run(one).scalar<std::string>(), "a");
  EXPECT_EQ(session.run(two).data<std::string>()[0], large);
}

TEST(PaddingFifoQueue, FillsBatchesUpToTheirLargestElement) {
  Graph g;
  PaddingFifoQueue queue(g, {int32, DType::String}, {.shapes = {Shape{kUnknown, 2}, Shape{kUnknown}}});
  Output x = g.placeholder(int32, {kUnknown, 2}, "x"), s = g.placeholder(DType::String, {kUnknown}, "s");
  Operation put = queue.enqueue({x, s});
  auto batch = queue.dequeue_many(2);
  EXPECT_EQ(batch[0].shape(), (Shape{2, kUnknown, 2}));
  Session session(g);
  session.run(put, {{x, Tensor::from<int32_t>({1, 2}, {1, 2})}, {s, std::vector<std::string>{"a", "b"}}});
  session.run(put, {{x, Tensor::from<int32_t>({3, 4, 5, 6}, {2, 2})}, {s, std::vector<std::string>{"c"}}});
  auto values = session.run({batch[0], batch[1]});
  EXPECT_EQ(values[0].shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(ints(values[0]), (Ints{1, 2, 0, 0, 3, 4, 5, 6}));
  EXPECT_EQ(values[1].data<std::string>()[2], "c");
  EXPECT_EQ(values[1].data<std::string>()[3], "");
}

TEST(PaddingFifoQueue, NeedsRanks) {
  Graph g;
  PaddingFifoQueue without(g, {int32}, {}), unknown(g, {int32}, {.shapes = {Shape::unknown()}});
  Session session(g);
  expect_error([&] { session.run(without.size()); }, Code::InvalidArgument, "Shapes must be provided");
  expect_error([&] { session.run(unknown.size()); }, Code::InvalidArgument, "must have known rank");
}

// The order that TensorFlow 1.15.5 gives for these seeds.
TEST(RandomShuffleQueue, DrawsTensorFlowsOrder) {
  Graph g;
  RandomShuffleQueue queue(g, {int32}, {{.capacity = 20, .shapes = {Shape{}}}, 0, 7});
  Ints numbers(20);
  std::iota(numbers.begin(), numbers.end(), 0);
  Operation put = queue.enqueue_many({numbers});
  Output take = queue.dequeue_many(20)[0];
  Session session(g);
  session.run(put);
  EXPECT_EQ(ints(session.run(take)), (Ints{7, 4, 19, 15, 0, 8, 10, 11, 14, 6, 16, 1, 12, 3, 17, 5, 2, 18, 13, 9}));
}

TEST(RandomShuffleQueue, KeepsElementsToMixUntilItIsClosed) {
  Graph g;
  RandomShuffleQueue queue(g, {int32}, {{.capacity = 10, .shapes = {Shape{}}}, 3});
  Operation put = queue.enqueue_many({Ints{1, 2, 3, 4}}), close = queue.close();
  Output one = queue.dequeue()[0], rest = queue.dequeue_many(3)[0];
  Session session(g);
  session.run(put);
  session.run(one);
  expect_late([&](std::chrono::milliseconds timeout) { session.run(one, {}, {}, {.timeout = timeout}); },
              "of which 3 must stay");
  session.run(close);
  EXPECT_EQ(session.run(rest).elements(), 3);
}

TEST(RandomShuffleQueue, RefusesToKeepMoreThanItHolds) {
  Graph g;
  RandomShuffleQueue queue(g, {int32}, {{.capacity = 3}, 3});
  Session session(g);
  expect_error([&] { session.run(queue.size()); }, Code::InvalidArgument, "min_after_dequeue 3 must be < capacity 3");
}

TEST(PriorityQueue, GivesTheSmallestFirst) {
  Graph g;
  PriorityQueue queue(g, {int32}, {.shapes = {Shape{}}});
  Operation put = queue.enqueue_many({std::vector<int64_t>{5, -1, 3}, Ints{50, 10, 30}}),
            more = queue.enqueue({int64_t{4}, 40});
  auto all = queue.dequeue_many(4);
  Session session(g);
  session.run(put);
  session.run(more);
  EXPECT_EQ(ints(session.run(all[1])), (Ints{10, 30, 40, 50}));
}

TEST(Queues, HaveReferencesAsHandlesToo) {
  Graph g;
  Output handle = NodeBuilder("FIFOQueue", "q")
                      .graph(g)
                      .attr("component_types", std::vector<DType>{int32})
                      .attr("shapes", std::vector<Shape>{Shape{}})
                      .output();
  Operation put = NodeBuilder("QueueEnqueueMany").input(handle).input(InList{Ints{1, 2}}).build();
  Output taken = NodeBuilder("QueueDequeueMany")
                     .input(handle)
                     .input(2)
                     .attr("component_types", std::vector<DType>{int32})
                     .output();
  Session session(g);
  session.run(put);
  EXPECT_EQ(ints(session.run(taken)), (Ints{1, 2}));
}

// Whatever ends in the middle, every element comes out exactly once.
TEST(Queues, LoseAndRepeatNothingUnderManyThreadsAndCancellations) {
  using namespace std::chrono_literals;
  constexpr int kThreads = 8, kEach = 300, kBatch = 5;
  Graph g;
  FifoQueue queue(g, {int32}, {.capacity = 7, .shapes = {Shape{}}});
  Output x = g.placeholder(int32, {kUnknown}, "x");
  Operation put = queue.enqueue_many({x}), close = queue.close();
  Output take = queue.dequeue_many(kBatch)[0];
  Session session(g);
  std::vector<std::atomic<int>> seen(kThreads * kEach * kBatch);
  std::atomic<int> next{0};
  std::vector<std::thread> putters, takers;
  for (int t = 0; t < kThreads; ++t) {
    putters.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        Ints batch(kBatch);
        std::iota(batch.begin(), batch.end(), next.fetch_add(kBatch));
        session.run(put, {{x, batch}});
      }
    });
    takers.emplace_back([&] {
      for (;;) {
        try {
          for (int value : ints(session.run(take, {}, {}, {.timeout = 1ms}))) ++seen[static_cast<size_t>(value)];
        } catch (const Error& e) {
          if (e.code() == Code::OutOfRange) return;
          ASSERT_EQ(e.code(), Code::DeadlineExceeded) << e.what();
        }
      }
    });
  }
  for (std::thread& thread : putters) thread.join();
  session.run(close);
  for (std::thread& thread : takers) thread.join();
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }));
}

}  // namespace
}  // namespace weir
