#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir {
namespace {

using data::Dataset;
using testing::expect_error;
using Numbers = std::vector<int64_t>;

// Attributes of operations on data sets of int64 scalars.
AttrMap number_spec() {
  return {{"output_types", std::vector<DType>{int64}}, {"output_shapes", std::vector<Shape>{Shape{}}}};
}
AttrMap with(AttrMap attrs, std::string_view name, AttrValue value) {
  attrs.set(std::string(name), std::move(value));
  return attrs;
}
Dataset dataset_of(Graph& g, std::string op, std::vector<Output> inputs, AttrMap attrs = number_spec()) {
  const Output made = g.add({.op = std::move(op), .inputs = std::move(inputs), .attrs = std::move(attrs)}).output();
  return {made, {int64}, {Shape{}}};
}
Output number(Graph& g, int64_t n) { return g.constant(Tensor(n)); }

Numbers rest(Session& session, const Output& next) {
  Numbers all;
  for (;;) {
    try {
      const Tensor got = session.run(next);
      for (int64_t value : got.data<int64_t>()) all.push_back(value);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::OutOfRange) << e.what();
      return all;
    }
  }
}

Numbers numbers(Graph& g, const Dataset& dataset) {
  const data::Iterator iterator = dataset.initializable_iterator();
  const Output next = iterator.get_next()[0];
  Session session(g);
  session.run(iterator.initializer());
  return rest(session, next);
}

TEST(ShuffleDatasetV2, DrawsTheOrderOfEachIterationFromItsGenerator) {
  Graph g;
  const Operation generator =
      g.add({.op = "AnonymousRandomSeedGenerator", .inputs = {number(g, 87654321), number(g, 7)}});
  const Dataset shuffled =
      dataset_of(g, "ShuffleDatasetV2", {Dataset::range(g, 5).variant(), number(g, 5), generator.output(0)});
  // Seeds 87654321 and 7 are those of shuffle(seed=7) in a graph without a seed of its own.
  const Dataset old = Dataset::range(g, 5).shuffle(5, {.seed = 7}).map([](Output x) { return x; });
  EXPECT_EQ(numbers(g, shuffled.repeat(3)), numbers(g, old.repeat(3)));
}

TEST(CacheDatasetV2, SharesItsCacheAmongIterators) {
  Graph g;
  const Operation cache = g.add({.op = "AnonymousMemoryCache"});
  const Output seed = number(g, 0), empty = g.constant(Tensor(std::string()));
  const Dataset random = dataset_of(g, "RandomDataset", {seed, seed}).take(4);
  const Dataset cached = dataset_of(g, "CacheDatasetV2", {random.variant(), empty, cache.output(0)});
  const data::Iterator a = cached.initializable_iterator(), b = cached.initializable_iterator();
  const Output next_a = a.get_next()[0], next_b = b.get_next()[0];
  Session session(g);
  session.run(std::vector<Output>{}, {}, {a.initializer(), b.initializer()});  // one run, and so one cache
  const Numbers first = rest(session, next_a);
  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(rest(session, next_b), first);
}

TEST(AnonymousIterator, IsAnotherOneInEveryRun) {
  Graph g;
  const Operation made = g.add({.op = "AnonymousIteratorV2", .attrs = number_spec()});
  const Operation begin = g.add({.op = "MakeIterator", .inputs = {Dataset::range(g, 3).variant(), made.output(0)}});
  const Output next =
      g.add({.op = "IteratorGetNext", .inputs = {made.output(0)}, .attrs = number_spec(), .control_inputs = {begin}})
          .output();
  const Operation gone =
      g.add({.op = "DeleteIterator", .inputs = {made.output(0), made.output(1)}, .control_inputs = {next.op()}});
  Session session(g);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(session.run(std::vector<Output>{next}, {}, {gone})[0].scalar<int64_t>(), 0) << i;
  }
}

TEST(AnonymousIterator, IsFoundByItsStringUntilItIsDeleted) {
  Graph g;
  const Operation old = g.add({.op = "AnonymousIterator", .attrs = number_spec()});
  const Output text = g.add({.op = "IteratorToStringHandle", .inputs = {old.output()}}).output();
  const Operation begin = g.add({.op = "MakeIterator", .inputs = {Dataset::range(g, 3).variant(), old.output()}});
  const Output handle = g.placeholder(string, Shape{});
  const Output found = g.add({.op = "IteratorFromStringHandle", .inputs = {handle}}).output();
  const Output next = g.add({.op = "IteratorGetNext", .inputs = {found}, .attrs = number_spec()}).output();
  const Operation newer = g.add({.op = "AnonymousIteratorV2", .attrs = number_spec()});
  const Output newer_text = g.add({.op = "IteratorToStringHandle", .inputs = {newer.output(0)}}).output();
  Session session(g);
  const Tensor name = session.run(std::vector<Output>{text}, {}, {begin})[0];
  EXPECT_EQ(session.run(next, {{handle, name}}).scalar<int64_t>(), 0);
  EXPECT_EQ(session.run(next, {{handle, name}}).scalar<int64_t>(), 1);
  const Tensor gone = session.run(newer_text);  // its deleter went with the run
  expect_error([&] { session.run(next, {{handle, gone}}); }, Code::NotFound, "does not exist");
}

TEST(MultiDeviceIterator, DealsElementsOutByTurns) {
  Graph g;
  const Output iterator =
      g.add({.op = "MultiDeviceIterator",
             .attrs = with(with(with(number_spec(), "devices", std::vector<std::string>{"/cpu:0", "/cpu:1"}),
                                "shared_name", std::string()),
                           "container", std::string())})
          .output();
  const Output begin =
      g.add({.op = "MultiDeviceIteratorInit", .inputs = {Dataset::range(g, 5).variant(), iterator, number(g, 10)}})
          .output();
  const Output incarnation = g.placeholder(int64, Shape{});
  Output shards[3];
  for (int32_t i = 0; i < 3; ++i) {
    shards[i] = g.add({.op = "MultiDeviceIteratorGetNextFromShard",
                       .inputs = {iterator, g.constant(Tensor(i)), incarnation},
                       .attrs = number_spec()})
                    .output();
  }
  Session session(g);
  expect_error([&] { session.run(shards[0], {{incarnation, Tensor(int64_t{1})}}); }, Code::FailedPrecondition, "");
  const Tensor id = session.run(begin);
  auto next = [&](int i) { return session.run(shards[i], {{incarnation, id}}).scalar<int64_t>(); };
  EXPECT_EQ(next(1), 1);
  EXPECT_EQ(next(0), 0);
  EXPECT_EQ(next(0), 2);
  EXPECT_EQ(next(0), 4);
  EXPECT_EQ(next(1), 3);
  expect_error([&] { next(0); }, Code::OutOfRange, "End of sequence");
  expect_error([&] { next(1); }, Code::OutOfRange, "End of sequence");
  expect_error([&] { next(2); }, Code::InvalidArgument, "Shard 2");
  session.run(begin);
  expect_error([&] { next(0); }, Code::InvalidArgument, "incarnation");
}

TEST(RebatchDataset, CutsBatchesIntoSmallerOnes) {
  Graph g;
  auto rebatched = [&](int64_t size, int64_t replicas) {
    AttrMap attrs = {{"output_types", std::vector<DType>{int64}},
                     {"output_shapes", std::vector<Shape>{Shape{kUnknown}}}};
    const Output made = g.add({.op = "RebatchDataset",
                               .inputs = {Dataset::range(g, 10).batch(size).variant(), number(g, replicas)},
                               .attrs = attrs})
                            .output();
    const Dataset dataset(made, {int64}, {Shape{kUnknown}});
    const data::Iterator iterator = dataset.initializable_iterator();
    const Output next = iterator.get_next()[0];
    Session session(g);
    session.run(iterator.initializer());
    std::vector<Numbers> all;
    for (;;) {
      try {
        auto data = session.run(next);
        all.emplace_back(data.data<int64_t>().begin(), data.data<int64_t>().end());
      } catch (const Error& e) {
        if (e.code() != Code::OutOfRange) throw;
        return all;
      }
    }
  };
  EXPECT_EQ(rebatched(4, 2), (std::vector<Numbers>{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}}));
  EXPECT_EQ(rebatched(6, 3), (std::vector<Numbers>{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}}));
  expect_error([&] { rebatched(5, 2); }, Code::InvalidArgument, "not divisible");
  expect_error([&] { rebatched(4, 0); }, Code::InvalidArgument, "num_replicas must be greater than zero");
}

TEST(PassedOnDatasets, GiveTheSameElements) {
  Graph g;
  const Dataset range = Dataset::range(g, 4);
  const Numbers all = {0, 1, 2, 3};
  EXPECT_EQ(numbers(g, dataset_of(g, "SleepDataset", {range.variant(), number(g, 100)})), all);
  const Output pool =
      g.add({.op = "ThreadPoolHandle", .attrs = {{"num_threads", int64_t{2}}, {"display_name", std::string("p")}}})
          .output();
  EXPECT_EQ(numbers(g, dataset_of(g, "ThreadPoolDataset", {range.variant(), pool})), all);
  EXPECT_EQ(numbers(g, dataset_of(g, "ExperimentalThreadPoolDataset", {range.variant(), pool})), all);
  const AttrMap choose = with(with(number_spec(), "num_experiments", int64_t{10}), "N", int64_t{2});
  EXPECT_EQ(numbers(g, dataset_of(g, "ChooseFastestDataset", {range.variant(), range.variant()}, choose)), all);
  const Output wrapped = g.add({.op = "WrapDatasetVariant", .inputs = {range.variant()}}).output();
  EXPECT_EQ(numbers(g, dataset_of(g, "UnwrapDatasetVariant", {wrapped}, {})), all);
  const Output two = number(g, 2), one = number(g, 1);
  EXPECT_EQ(numbers(g, dataset_of(g, "AutoShardDataset", {range.variant(), two, one})), (Numbers{1, 3}));
  expect_error(
      [&] {
        numbers(g, dataset_of(g, "SleepDataset", {range.variant(), number(g, -1)}));
      },
      Code::InvalidArgument, "sleep_microseconds");
}

TEST(SleepDataset, EndsWithItsRun) {
  Graph g;
  const Dataset slow =
      dataset_of(g, "SleepDataset", {Dataset::range(g, 4).variant(), number(g, int64_t{3600} * 1000000)});
  const data::Iterator iterator = slow.initializable_iterator();
  const Output next = iterator.get_next()[0];
  Session session(g);
  session.run(iterator.initializer());
  expect_error([&] { session.run(next, {}, {}, {.timeout = std::chrono::milliseconds(20)}); }, Code::DeadlineExceeded,
               "");
}

TEST(ParseExampleDataset, GivesFeaturesInTheOrderOfTheirKeys) {
  Graph g;
  std::vector<std::string> examples;
  for (int64_t i = 0; i < 3; ++i) {
    Example example;
    example.set_ints("b", {i}).set_floats("a", std::vector<float>(static_cast<size_t>(i), 0.5f));
    examples.push_back(example.serialize());
  }
  auto parsed = [&](const Dataset& input, std::vector<DType> types) {
    const Output made = g.add({.op = "ParseExampleDataset",
                               .inputs = {input.variant(), number(g, 2), g.constant(Tensor(std::vector<int64_t>{}))},
                               .attrs = {{"sparse_keys", std::vector<std::string>{"a"}},
                                         {"dense_keys", std::vector<std::string>{"b"}},
                                         {"sparse_types", std::vector<DType>{float32}},
                                         {"Tdense", std::vector<DType>{int64}},
                                         {"dense_shapes", std::vector<Shape>{Shape{}}},
                                         {"output_types", types},
                                         {"output_shapes", std::vector<Shape>(types.size(), Shape::unknown())}}})
                            .output();
    return Dataset(made, types, std::vector<Shape>(types.size(), Shape::unknown()));
  };
  const Dataset strings = Dataset::from_tensor_slices(g, {Tensor(examples)});
  const auto [a, b] = parsed(strings.batch(2), {DType::Variant, int64}).one_shot_iterator().get_next<2>();
  const Operation parts = g.add({.op = "DeserializeSparse", .inputs = {a}, .attrs = {{"dtype", float32}}});
  Session session(g);
  for (const Numbers& wanted : {Numbers{0, 1}, Numbers{2}}) {
    auto [shape, ints] = session.run({parts.output(2), b});
    EXPECT_EQ(Numbers(ints.data<int64_t>().begin(), ints.data<int64_t>().end()), wanted);
    EXPECT_EQ(shape.data<int64_t>()[1], wanted.back());  // the longest list of the batch
  }
  auto first = [&](const Dataset& dataset) {
    return [&session, next = dataset.one_shot_iterator().get_next()[0].op()] { session.run(next); };
  };
  expect_error(first(parsed(strings, {DType::Variant, int64})), Code::InvalidArgument, "vector of strings");
  expect_error(first(parsed(strings.batch(2), {int64})), Code::InvalidArgument, "output_types");
}

// Every kind of pipeline goes on where it stood, in another session too, whatever was drawn at random in the first.
class SavedIterators : public ::testing::Test {
 protected:
  SavedIterators() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir_iterators_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~SavedIterators() override { std::filesystem::remove_all(directory_); }

  void check(const std::function<Dataset(Graph&)>& make, int steps) {
    Graph g;
    const data::Iterator iterator = make(g).initializable_iterator();
    const Output next = iterator.get_next()[0], handle = next.op().input(0);
    const Output state = g.add({.op = "SerializeIterator", .inputs = {handle}}).output();
    const Output prefix = g.constant(Tensor(directory_ + "/saved")),
                 name = g.constant(Tensor(std::vector<std::string>{"it"})),
                 slice = g.constant(Tensor(std::vector<std::string>{""}));
    const Operation save = g.add({.op = "SaveV2", .inputs = {prefix, name, slice, state}});
    const Output saved = g.add({.op = "RestoreV2",
                                .inputs = {prefix, name, slice},
                                .attrs = {{"dtypes", std::vector<DType>{DType::Variant}}}})
                             .output();
    const Operation restore = g.add({.op = "DeserializeIterator", .inputs = {handle, saved}});
    Numbers wanted;
    {
      Session session(g);
      expect_error([&] { session.run(save); }, Code::FailedPrecondition, "has not been initialized");
      session.run(iterator.initializer());
      for (int i = 0; i < steps; ++i) session.run(next);
      session.run(save);
      wanted = rest(session, next);
      session.run(restore);
      EXPECT_EQ(rest(session, next), wanted);
    }
    Session session(g);
    expect_error([&] { session.run(restore); }, Code::FailedPrecondition, "has not been initialized");
    session.run(iterator.initializer());
    session.run(restore);
    EXPECT_EQ(rest(session, next), wanted);
  }

  std::string directory_;
};

TEST_F(SavedIterators, GoOnWhereTheyStood) {
  auto plus = [](Output x) { return x + x; };
  check([](Graph& g) { return Dataset::range(g, 10); }, 4);
  check([](Graph& g) { return Dataset::range(g, 10); }, 0);
  check([](Graph& g) { return Dataset::range(g, 10); }, 10);
  check([&](Graph& g) { return Dataset::range(g, 10).map(plus).batch(3); }, 2);
  check([&](Graph& g) { return Dataset::range(g, 10).map(plus, {.num_parallel_calls = 3}).prefetch(2).repeat(3); }, 17);
  check([](Graph& g) { return Dataset::range(g, 20).shuffle(8); }, 7);
  check([](Graph& g) { return Dataset::range(g, 6).shuffle(6).map([](Output x) { return x; }).repeat(3).batch(4); }, 3);
  check([](Graph& g) { return Dataset::range(g, 9).skip(2).take(6).concatenate(Dataset::range(g, 5)); }, 8);
  check(
      [](Graph& g) {
        return Dataset::range(g, 9).filter([](Output x) { return not_equal(mod(x, 3), 0); }).cache().repeat(2);
      },
      5);
  check(
      [](Graph& g) {
        return Dataset::range(g, 4).flat_map([](Output x) { return Dataset::range(x.graph(), x); }).repeat(2);
      },
      7);
}

TEST_F(SavedIterators, RefuseWhatIsNoState) {
  Graph g;
  const data::Iterator iterator = Dataset::range(g, 3).one_shot_iterator();
  const Output handle = iterator.get_next()[0].op().input(0);
  const Operation restore = g.add({.op = "DeserializeIterator", .inputs = {handle, Dataset::range(g, 3).variant()}});
  Session session(g);
  expect_error([&] { session.run(restore); }, Code::InvalidArgument, "not the state of an iterator");
}

}  // namespace
}  // namespace weir
