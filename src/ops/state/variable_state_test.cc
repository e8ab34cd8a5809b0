#include "ops/state/variable_state.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/support/check_op.h"

namespace weir {
namespace {

using testing::expect_error;

float first(const Tensor& t) { return t.data<float>()[0]; }

TEST(VariableState, CannotBeReadBeforeItHasAValue) {
  VariableState v("layer/W", float32, {2});
  EXPECT_FALSE(v.initialized());
  expect_error([&] { v.read(); }, Code::FailedPrecondition, "Attempting to use uninitialized value layer/W");
  expect_error([&] { v.update([](Tensor&) {}); }, Code::FailedPrecondition, "layer/W");
}

TEST(VariableState, WritesInPlaceWhenNobodyHoldsTheBuffer) {
  VariableState v("W", float32, {2});
  v.copy_from(std::vector<float>{1, 2}.data(), {2});
  const void* memory = v.read().raw();
  v.update([](Tensor& t) { t.mutable_data<float>()[0] = 5; });
  EXPECT_EQ(v.read().raw(), memory);
  v.copy_from(std::vector<float>{7, 8}.data(), {2});
  EXPECT_EQ(v.read().raw(), memory);
  EXPECT_EQ(first(v.read()), 7);
}

TEST(VariableState, ASnapshotNeverChanges) {
  VariableState v("W", float32, {2});
  v.copy_from(std::vector<float>{1, 2}.data(), {2});
  Tensor snapshot = v.read();
  v.update([](Tensor& t) { t.mutable_data<float>()[0] = 5; });
  EXPECT_EQ(first(snapshot), 1);
  EXPECT_EQ(first(v.read()), 5);
  Tensor second = v.read();
  v.copy_from(std::vector<float>{7, 8}.data(), {2});
  EXPECT_EQ(first(second), 5);
}

TEST(VariableState, TakesAnotherShapeAndAnotherType) {
  VariableState v("W", string, Shape::unknown());
  v.assign(Tensor(std::vector<std::string>{"a", "b"}));
  const std::string one = "c";
  v.copy_from(&one, {});
  EXPECT_EQ(v.read().scalar<std::string>(), "c");
  expect_error([&] { v.assign(Tensor(1.f)); }, Code::InvalidArgument, "cannot take a value of type float");
  v.clear();
  EXPECT_FALSE(v.initialized());
}

TEST(VariableState, RefusesToBeUpdatedTogetherWithItself) {
  VariableState v("W", float32, {});
  v.assign(Tensor(1.f));
  VariableState* twice[] = {&v, &v};
  expect_error([&] { VariableState::update_together(twice, UpdateMode::Atomic, [](auto) {}); }, Code::InvalidArgument,
               "given twice");
}

void set_first(VariableState& v, float value, UpdateMode mode) {
  v.update([&](Tensor& t) { t.mutable_data<float>()[0] = value; }, mode);
}

TEST(VariableState, IsWrittenInPlaceUnderLiveReadersWithoutLocking) {
  VariableState v("W", float32, {2});
  v.assign(Tensor(std::vector<float>{1, 2}));
  Tensor live = v.read_live();
  EXPECT_TRUE(VariableState::is_live(*live.buffer()));
  set_first(v, 5, UpdateMode::Unlocked);
  EXPECT_EQ(first(live), 5);
  set_first(v, 6, UpdateMode::InPlace);
  EXPECT_EQ(first(live), 6);
  v.copy_from(std::vector<float>{7, 8}.data(), {2}, UpdateMode::Unlocked);
  EXPECT_EQ(first(live), 7);
  set_first(v, 9, UpdateMode::Atomic);
  EXPECT_EQ(first(live), 7);
  EXPECT_EQ(first(v.read()), 9);
}

TEST(VariableState, KeepsSnapshotsFromChangesOfEveryMode) {
  for (UpdateMode mode : {UpdateMode::Atomic, UpdateMode::InPlace, UpdateMode::Unlocked}) {
    VariableState v("W", float32, {2});
    v.assign(Tensor(std::vector<float>{1, 2}));
    Tensor snapshot = v.read();
    EXPECT_FALSE(VariableState::is_live(*snapshot.buffer()));
    set_first(v, 5, mode);
    EXPECT_EQ(first(snapshot), 1);
    Tensor second = v.read();
    v.copy_from(std::vector<float>{7, 8}.data(), {2}, mode);
    EXPECT_EQ(first(second), 5);
    EXPECT_EQ(first(v.read()), 7);
  }
}

TEST(VariableState, GivesACopyAsSnapshotWhileItIsWrittenInPlace) {
  VariableState v("W", float32, {2});
  v.assign(Tensor(std::vector<float>{1, 2}));
  Tensor during;
  v.update(
      [&](Tensor& t) {
        during = v.read();
        t.mutable_data<float>()[0] = 5;
        EXPECT_EQ(first(v.read_live()), 5);
      },
      UpdateMode::Unlocked);
  EXPECT_EQ(first(during), 1);
  EXPECT_EQ(first(v.read()), 5);
}

TEST(VariableState, ReadsStringsAsSnapshotsOnly) {
  VariableState v("names", string, {});
  v.assign(Tensor(std::string("a")));
  Tensor read = v.read_live();
  EXPECT_FALSE(VariableState::is_live(*read.buffer()));
  const std::string other = "b";
  v.copy_from(&other, {}, UpdateMode::Unlocked);
  EXPECT_EQ(read.scalar<std::string>(), "a");
}

// Updates without locking may lose others', but not what nobody else writes, and every value read was written.
TEST(VariableState, LosesNoRowThatOneThreadAloneWrites) {
  constexpr int kThreads = 4, kUpdates = 1000;
  VariableState v("table", float32, {kThreads, 16});
  v.assign(Tensor::zeros(float32, {kThreads, 16}));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kUpdates; ++i) {
        v.update(
            [&](Tensor& table) {
              float* row = table.mutable_data<float>() + t * 16;
              for (int k = 0; k < 16; ++k) row[k] += 1;
            },
            UpdateMode::Unlocked);
        if (i % 100 != 0) continue;
        EXPECT_EQ(v.read_live().data<float>()[static_cast<size_t>(t) * 16], static_cast<float>(i + 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (float value : v.read().data<float>()) EXPECT_EQ(value, kUpdates);
}

TEST(VariableState, ExcludesUpdatesInPlaceFromEachOther) {
  constexpr int kThreads = 4, kUpdates = 1000;
  VariableState v("count", int32, {});
  v.assign(Tensor(0));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kUpdates; ++i) {
        v.update([](Tensor& n) { *n.mutable_data<int32_t>() += 1; }, t % 2 ? UpdateMode::InPlace : UpdateMode::Atomic);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(v.read().scalar<int32_t>(), kThreads * kUpdates);
}

// Reads are whole values, and no update is lost, however many threads take part.
TEST(VariableState, UpdatesAreAtomic) {
  constexpr int kThreads = 4, kUpdates = 500;
  VariableState a("a", float32, {64}), b("b", float32, {64});
  a.assign(Tensor::zeros(float32, {64}));
  b.assign(Tensor::zeros(float32, {64}));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kUpdates; ++i) {
        VariableState* forth[] = {&a, &b};
        VariableState* back[] = {&b, &a};
        VariableState::update_together(t % 2 ? forth : back, UpdateMode::Atomic, [](std::span<Tensor* const> values) {
          for (Tensor* value : values) {
            for (int k = 0; k < 64; ++k) value->mutable_data<float>()[k] += 1;
          }
        });
        Tensor snapshot = a.read();
        EXPECT_EQ(snapshot.data<float>()[0], snapshot.data<float>()[63]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first(a.read()), kThreads * kUpdates);
  EXPECT_EQ(first(b.read()), kThreads * kUpdates);
}

}  // namespace
}  // namespace weir
