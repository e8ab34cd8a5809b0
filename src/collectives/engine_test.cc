#include "collectives/engine.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <thread>

#include "tests/support/thread_transport.h"
#include "weir/error.h"

namespace weir::collectives {
namespace {

using testing::ThreadHub;

// The engines of all ranks, in this process.
class Ranks {
 public:
  explicit Ranks(int size, const EngineOptions& options = {}) : hub_(size) {
    for (int r = 0; r < size; ++r) {
      engines_.push_back(std::make_unique<Engine>([this, r] { return hub_.join(r); }, options));
    }
  }
  // They end together: each waits for the others.
  ~Ranks() {
    each([this](int r) { engines_[static_cast<size_t>(r)].reset(); });
  }
  Engine& operator[](int rank) { return *engines_[static_cast<size_t>(rank)]; }
  int size() const { return static_cast<int>(engines_.size()); }
  void kill() { hub_.kill(); }
  // Does something for every rank, each in a thread of its own.
  void each(const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int r = 0; r < size(); ++r) threads.emplace_back([&work, r] { work(r); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  ThreadHub hub_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

Key sum_of(const std::string& name, const Tensor& tensor, double scale = 1) {
  return {.name = name, .dtype = tensor.dtype(), .shape = tensor.shape(), .scale = scale};
}

Code code_of(const std::function<void()>& work, std::string* message = nullptr) {
  try {
    work();
  } catch (const Error& error) {
    if (message) *message = error.what();
    return error.code();
  }
  return Code::Ok;
}

TEST(CollectiveEngine, SumsOverRanks) {
  Ranks ranks(3);
  ranks.each([&](int r) {
    const Tensor mine(std::vector<float>{static_cast<float>(r), 1});
    const Tensor sum = ranks[r].run(sum_of("x", mine), mine);
    EXPECT_EQ(sum.data<float>()[0], 3);
    EXPECT_EQ(sum.data<float>()[1], 3);
    const Tensor mean = ranks[r].run(sum_of("y", mine, 1.0 / 3), mine);
    EXPECT_FLOAT_EQ(mean.data<float>()[0], 1);
  });
}

TEST(CollectiveEngine, AveragesHalvesWhoseSumIsNone) {
  Ranks ranks(2);
  ranks.each([&](int r) {
    Tensor mine(DType::Float16, {2});
    mine.mutable_data<Half>()[0] = Half(60000.f);
    mine.mutable_data<Half>()[1] = Half(0.5f);
    const Tensor mean = ranks[r].run(sum_of("x", mine, 0.5), mine);
    EXPECT_EQ(static_cast<float>(mean.data<Half>()[0]), 60000.f);  // the sum is infinite among halves
    EXPECT_EQ(static_cast<float>(mean.data<Half>()[1]), 0.5f);
  });
}

TEST(CollectiveEngine, GathersRowsOfDifferentNumbers) {
  Ranks ranks(3);
  ranks.each([&](int r) {
    // Rank 1 has none.
    const int rows = r == 1 ? 0 : r + 1;
    Tensor mine(int32, {rows, 2});
    for (int i = 0; i < rows * 2; ++i) mine.mutable_data<int32_t>()[i] = r * 100 + i;
    const Tensor all = ranks[r].run({.name = "g", .kind = Kind::Gather, .dtype = int32, .shape = {0, 2}}, mine);
    ASSERT_EQ(all.shape(), (Shape{4, 2}));
    EXPECT_EQ(all.data<int32_t>()[1], 1);
    EXPECT_EQ(all.data<int32_t>()[2], 200);
    EXPECT_EQ(all.data<int32_t>()[7], 205);
  });
}

TEST(CollectiveEngine, BroadcastsFromTheRoot) {
  Ranks ranks(2);
  ranks.each([&](int r) {
    const Tensor mine(std::vector<double>{r + 0.5});
    const Key key{.name = "b", .kind = Kind::Broadcast, .dtype = float64, .shape = {1}, .root = 1};
    EXPECT_EQ(ranks[r].run(key, mine).scalar<double>(), 1.5);
    EXPECT_EQ(code_of([&] { ranks[r].run({.name = "c", .kind = Kind::Broadcast, .root = 2}, mine); }),
              Code::InvalidArgument);
  });
}

TEST(CollectiveEngine, ReducesSmallTensorsTogether) {
  Ranks ranks(2);
  ranks.each([&](int r) {
    std::mutex mutex;
    std::condition_variable all;
    int left = 100;
    // The engine waits in here until the others have been handed in.
    std::promise<void> ready;
    const Tensor first(std::vector<float>(3, 0.f));
    ranks[r].submit(sum_of("first", first), first, {},
                    [there = ready.get_future().share()](const std::exception_ptr&, const Tensor&) { there.wait(); });
    // In another order on each rank.
    for (int i = 0; i < 100; ++i) {
      const int n = r == 0 ? i : 99 - i;
      const Tensor mine(std::vector<float>(3, static_cast<float>(n)));
      ranks[r].submit(sum_of("t" + std::to_string(n), mine), mine, {}, [&, n](std::exception_ptr error, Tensor result) {
        std::lock_guard lock(mutex);
        EXPECT_FALSE(error);
        EXPECT_EQ(result.data<float>()[2], static_cast<float>(2 * n));
        if (--left == 0) all.notify_one();
      });
    }
    ready.set_value();
    std::unique_lock lock(mutex);
    all.wait(lock, [&] { return left == 0; });
  });
  EXPECT_EQ(ranks[0].counts().tensors, 101);
  EXPECT_LE(ranks[0].counts().calls, 3);
}

TEST(CollectiveEngine, CutsFusedBuffersAtTheirLimit) {
  Ranks ranks(2, {.fusion_bytes = 64});
  ranks.each([&](int r) {
    for (int step = 0; step < 3; ++step) {
      std::vector<std::future<float>> results;
      for (int n = 0; n < 10; ++n) {
        const Tensor mine(std::vector<float>(static_cast<size_t>(n * 3), 1.f + static_cast<float>(r)));
        auto result = std::make_shared<std::promise<float>>();
        results.push_back(result->get_future());
        ranks[r].submit(sum_of("t" + std::to_string(n), mine), mine, {}, [result](std::exception_ptr, Tensor sum) {
          result->set_value(sum.elements() > 0 ? sum.data<float>().back() : 3.f);
        });
      }
      for (auto& result : results) EXPECT_EQ(result.get(), 3.f);
    }
  });
}

TEST(CollectiveEngine, ReusesTheMemoryOfResultsThatNobodyHolds) {
  Ranks ranks(2);
  ranks.each([&](int r) {
    const Tensor mine(std::vector<float>(1000, 1.f));
    const void* place = ranks[r].run(sum_of("x", mine), mine).raw();
    Tensor second = ranks[r].run(sum_of("x", mine), mine);
    EXPECT_EQ(second.raw(), place);
    EXPECT_NE(ranks[r].run(sum_of("x", mine), mine).raw(), place);  // `second` holds it
  });
}

TEST(CollectiveEngine, RefusesWhatRanksDisagreeOn) {
  Ranks ranks(2);
  ranks.each([&](int r) {
    const Tensor mine(std::vector<float>(r == 0 ? 3 : 4, 1.f));
    std::string message;
    EXPECT_EQ(code_of([&] { ranks[r].run(sum_of("x", mine), mine); }, &message), Code::InvalidArgument);
    EXPECT_NE(message.find("rank 0 has an allreduce of float [3], rank 1 has an allreduce of float [4]"),
              std::string::npos)
        << message;
    // And goes on.
    EXPECT_EQ(ranks[r].run(sum_of("y", Tensor(1.f)), Tensor(1.f)).scalar<float>(), 2);
  });
}

TEST(CollectiveEngine, RefusesANameThatIsUnderWay) {
  Ranks ranks(2);
  std::promise<void> first;
  ranks[0].submit(sum_of("x", Tensor(1.f)), Tensor(1.f), {}, [&](std::exception_ptr, Tensor) { first.set_value(); });
  EXPECT_EQ(code_of([&] { ranks[0].run(sum_of("x", Tensor(1.f)), Tensor(1.f)); }), Code::InvalidArgument);
  EXPECT_EQ(ranks[1].run(sum_of("x", Tensor(2.f)), Tensor(2.f)).scalar<float>(), 3);
  first.get_future().get();
}

TEST(CollectiveEngine, CancelledRequestsStillGiveTheOthersTheirShare) {
  for (int round = 0; round < 50; ++round) {
    Ranks ranks(2);
    std::stop_source stop;
    std::promise<Code> first;
    ranks[0].submit(sum_of("x", Tensor(1.f)), Tensor(1.f), stop.get_token(), [&](std::exception_ptr error, Tensor) {
      first.set_value(error ? code_of([&] { std::rethrow_exception(error); }) : Code::Ok);
    });
    std::this_thread::sleep_for(std::chrono::microseconds(round * 10));
    stop.request_stop();
    EXPECT_EQ(first.get_future().get(), Code::Cancelled);
    // The other rank either had told nobody, and then waits for another turn, or gets the whole sum.
    std::promise<float> second;
    ranks[1].submit(sum_of("x", Tensor(2.f)), Tensor(2.f), {},
                    [&](std::exception_ptr error, Tensor sum) { second.set_value(error ? -1 : sum.scalar<float>()); });
    std::future<float> sum = second.get_future();
    // On a busy machine the sum may only be late: what is offered once more is then taken back.
    std::stop_source enough;
    if (sum.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout) {
      ranks[0].submit(sum_of("x", Tensor(1.f)), Tensor(1.f), enough.get_token(), [](std::exception_ptr, Tensor) {});
    }
    EXPECT_EQ(sum.get(), 3.f);
    enough.request_stop();
  }
}

TEST(CollectiveEngine, EndsWhatOthersWaitForWhenARankEnds) {
  ThreadHub hub(2);
  auto first = std::make_unique<Engine>([&] { return hub.join(0); });
  auto second = std::make_unique<Engine>([&] { return hub.join(1); });
  std::thread ends([&] { second.reset(); });
  std::string message;
  EXPECT_EQ(code_of([&] { first->run(sum_of("x", Tensor(1.f)), Tensor(1.f)); }, &message), Code::Aborted);
  EXPECT_NE(message.find("rank 1 of 2 has ended"), std::string::npos) << message;
  ends.join();
}

TEST(CollectiveEngine, FailsWhatIsUnderWayWhenARankIsLost) {
  Ranks ranks(2);
  ranks.each([&](int r) { ranks[r].run(sum_of("x", Tensor(1.f)), Tensor(1.f)); });
  ranks.kill();
  ranks.each([&](int r) {
    std::string message;
    EXPECT_EQ(code_of([&] { ranks[r].run(sum_of("x", Tensor(1.f)), Tensor(1.f)); }, &message), Code::Unavailable);
    EXPECT_NE(message.find("a rank was killed"), std::string::npos);
    EXPECT_EQ(code_of([&] { ranks[r].run(sum_of("x", Tensor(1.f)), Tensor(1.f)); }), Code::Unavailable);
  });
}

}  // namespace
}  // namespace weir::collectives
