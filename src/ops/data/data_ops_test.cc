#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "weir/weir.h"

namespace weir {
namespace {

using data::Dataset;
using data::Element;
using namespace std::chrono_literals;

Code code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::Ok;
}

// What every step gets of an int64 scalar, until the end.
std::vector<int64_t> numbers(Graph& g, const Dataset& dataset, size_t limit = 1000) {
  const data::Iterator iterator = dataset.initializable_iterator();
  const Output next = iterator.get_next()[0];
  Session session(g);
  session.run(iterator.initializer());
  std::vector<int64_t> all;
  while (all.size() < limit) {
    try {
      const Tensor got = session.run(next);
      for (int64_t value : got.data<int64_t>()) all.push_back(value);
    } catch (const Error& e) {
      if (e.code() != Code::OutOfRange) throw;
      EXPECT_EQ(e.message(), "End of sequence");
      break;
    }
  }
  return all;
}

std::vector<int64_t> counted(int64_t n) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(i);
  return all;
}

using Numbers = std::vector<int64_t>;

TEST(Data, RangeCountsUpAndDown) {
  Graph g;
  EXPECT_EQ(numbers(g, Dataset::range(g, 3)), (Numbers{0, 1, 2}));
  EXPECT_EQ(numbers(g, Dataset::range(g, 1, 5, 2)), (Numbers{1, 3}));
  EXPECT_EQ(numbers(g, Dataset::range(g, 5, 1, -2)), (Numbers{5, 3}));
  EXPECT_EQ(numbers(g, Dataset::range(g, 5, 1)), Numbers{});
}

TEST(Data, SlicesShareTheTensorsRows) {
  Graph g;
  const auto dataset =
      Dataset::from_tensor_slices(g, {Tensor(Numbers{4, 5, 6}), Tensor(std::vector<std::string>{"a", "b", "c"})});
  const data::Iterator iterator = dataset.one_shot_iterator();
  const auto [number, text] = iterator.get_next<2>();
  Session session(g);
  auto [a, b] = session.run({number, text});
  EXPECT_EQ(a.scalar<int64_t>(), 4);
  EXPECT_EQ(b.scalar<std::string>(), "a");
}

TEST(Data, ShuffleGivesTensorFlowsOrder) {
  Graph g;
  EXPECT_EQ(numbers(g, Dataset::range(g, 10).shuffle(10, {.seed = 7})), (Numbers{2, 8, 6, 5, 9, 1, 0, 3, 7, 4}));
  EXPECT_EQ(numbers(g, Dataset::range(g, 10).shuffle(5, {.seed = 7})), (Numbers{2, 4, 0, 3, 8, 1, 6, 5, 7, 9}));
  EXPECT_EQ(numbers(g, Dataset::range(g, 5).shuffle(5, {.seed = 7}).map([](Output x) { return x; }).repeat(3)),
            (Numbers{2, 4, 0, 3, 1, 4, 3, 1, 0, 2, 1, 2, 3, 4, 0}));
  EXPECT_EQ(numbers(g, Dataset::range(g, 5).shuffle(5, {.seed = 7, .reshuffle_each_iteration = false}).repeat(2)),
            (Numbers{2, 4, 3, 0, 1, 2, 4, 3, 0, 1}));
}

TEST(Data, MapIsRunWithoutTheProgramAndInOrder) {
  Graph g;
  const Output ten = g.constant(Tensor(int64_t{10}));
  auto add = [&](Output x) { return x + ten; };
  Numbers wanted = counted(1000);
  for (int64_t& n : wanted) n += 10;
  EXPECT_EQ(numbers(g, Dataset::range(g, 1000).map(add)), wanted);
  EXPECT_EQ(numbers(g, Dataset::range(g, 1000).map(add, {.num_parallel_calls = 8})), wanted);
}

TEST(Data, FunctionsMayReadVariables) {
  Graph g;
  Variable w = g.variable("w", Tensor(int64_t{5}), {.use_resource = true});
  Variable ref = g.variable("ref", Tensor(int64_t{100}));
  const auto dataset = Dataset::range(g, 3).map([&](Output x) { return x + w.value() + ref.value(); });
  const data::Iterator iterator = dataset.initializable_iterator();
  const Output next = iterator.get_next()[0];
  Session session(g);
  session.run(g.global_variables_initializer());
  session.run(iterator.initializer());
  EXPECT_EQ(session.run(next).scalar<int64_t>(), 105);
  EXPECT_EQ(session.run(next).scalar<int64_t>(), 106);
}

TEST(Data, BatchesStackElements) {
  Graph g;
  const data::Iterator iterator = Dataset::range(g, 7).batch(3).initializable_iterator();
  const Output next = iterator.get_next()[0];
  EXPECT_EQ(next.shape(), Shape{kUnknown});
  Session session(g);
  session.run(iterator.initializer());
  EXPECT_EQ(session.run(next).shape(), Shape{3});
  session.run(next);
  EXPECT_EQ(session.run(next).shape(), Shape{1});
  EXPECT_EQ(numbers(g, Dataset::range(g, 7).batch(3, {.drop_remainder = true})), counted(6));
  EXPECT_EQ(Dataset::range(g, 7).batch(3, {.drop_remainder = true}).shapes()[0], Shape{3});
}

TEST(Data, PaddedBatchesFillUp) {
  Graph g;
  const auto dataset = Dataset::range(g, 1, 4).map([](Output n) { return fill(reshape(cast(n, int32), {1}), n); });
  EXPECT_EQ(numbers(g, dataset.padded_batch(2, {.shapes = {{kUnknown}}})), (Numbers{1, 0, 2, 2, 3, 3, 3}));
  EXPECT_EQ(numbers(g, dataset.padded_batch(3, {.shapes = {{4}}, .values = {Tensor(int64_t{-1})}})),
            (Numbers{1, -1, -1, -1, 2, 2, -1, -1, 3, 3, 3, -1}));
  EXPECT_EQ(code_of([&] { numbers(g, dataset.padded_batch(2, {.shapes = {{1}}})); }), Code::DataLoss);
}

TEST(Data, InterleavesInTurnWithAndWithoutThreads) {
  Graph g;
  auto three = [&](Output x) { return Dataset::from_tensors(x.graph(), {x}).repeat(3); };
  const Numbers wanted = {0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3, 4, 4, 4};
  EXPECT_EQ(numbers(g, Dataset::range(g, 5).interleave(three, {.cycle_length = 2, .block_length = 2})), wanted);
  EXPECT_EQ(numbers(g, Dataset::range(g, 5).interleave(
                           three, {.cycle_length = 2, .block_length = 2, .num_parallel_calls = 2})),
            wanted);
  EXPECT_EQ(numbers(g, Dataset::range(g, 4).flat_map([](Output x) { return Dataset::range(x.graph(), x); })),
            (Numbers{0, 0, 1, 0, 1, 2}));
}

TEST(Data, OtherVerbs) {
  Graph g;
  const auto ten = Dataset::range(g, 10);
  EXPECT_EQ(numbers(g, ten.filter([](Output x) { return equal(floormod(x, Tensor(int64_t{3})), Tensor(int64_t{0})); })),
            (Numbers{0, 3, 6, 9}));
  EXPECT_EQ(numbers(g, ten.skip(3).take(4)), (Numbers{3, 4, 5, 6}));
  EXPECT_EQ(numbers(g, ten.shard(3, 1)), (Numbers{1, 4, 7}));
  EXPECT_EQ(numbers(g, Dataset::range(g, 2).concatenate(Dataset::range(g, 5, 7))), (Numbers{0, 1, 5, 6}));
  EXPECT_EQ(numbers(g, Dataset::range(g, 3).cache().repeat(2)), (Numbers{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(numbers(g, ten.batch(4).unbatch()), counted(10));
  EXPECT_EQ(numbers(g, ten.prefetch(3)), counted(10));
  EXPECT_EQ(numbers(g, Dataset::range(g, 0).repeat()), Numbers{});
  EXPECT_EQ(numbers(g, Dataset::range(g, 5).scan({Tensor(int64_t{0})},
                                                 [](const Element& s, const Element& e) {
                                                   return std::pair(Element{s[0] + e[0]}, Element{s[0]});
                                                 })),
            (Numbers{0, 0, 1, 3, 6}));
  const Element sum =
      ten.reduce({Tensor(int64_t{0})}, [](const Element& s, const Element& e) { return Element{s[0] + e[0]}; });
  EXPECT_EQ(Session(g).run(sum[0]).scalar<int64_t>(), 45);
  auto window = [](Output w) { return Dataset(w, {DType::Int64}, {Shape{}}).batch(3); };
  EXPECT_EQ(numbers(g, Dataset::range(g, 7).window(3, {.shift = 2}).flat_map(window)),
            (Numbers{0, 1, 2, 2, 3, 4, 4, 5, 6, 6}));
}

TEST(Data, ReadsRecordsAndLines) {
  const std::string records = ::testing::TempDir() + "data_ops_test.tfrecord",
                    lines = ::testing::TempDir() + "data_ops_test.txt";
  {
    RecordWriter writer(records);
    for (const char* text : {"one", "two", "three"}) writer.write(text);
    std::ofstream(lines) << "a\nb\r\n\nlast";
  }
  Graph g;
  auto strings = [&](const Dataset& dataset) {
    const Output next = dataset.batch(10).one_shot_iterator().get_next()[0];
    const Tensor all = Session(g).run(next);
    const auto values = all.data<std::string>();
    return std::vector<std::string>(values.begin(), values.end());
  };
  EXPECT_EQ(strings(data::tf_records(g, records)), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(strings(data::text_lines(g, lines)), (std::vector<std::string>{"a", "b", "", "last"}));
  std::ofstream(lines, std::ios::trunc) << "Hone"
                                        << "two"
                                        << "F";
  EXPECT_EQ(strings(data::fixed_length_records(g, lines, 3, {.header_bytes = 1, .footer_bytes = 1})),
            (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(code_of([&] { strings(data::fixed_length_records(g, lines, 5)); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { strings(data::tf_records(g, "/no/such/file")); }), Code::NotFound);
  EXPECT_EQ(code_of([&] { strings(data::tf_records(g, lines)); }), Code::DataLoss);
}

TEST(Data, AnIteratorThatWasNotInitialisedSaysSo) {
  Graph g;
  const data::Iterator iterator = Dataset::range(g, 3).initializable_iterator();
  const Output next = iterator.get_next("next")[0];
  Session session(g);
  try {
    session.run(next);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::FailedPrecondition);
    EXPECT_NE(e.message().find("the iterator has not been initialized"), std::string::npos);
    EXPECT_EQ(e.node(), "next");
  }
}

TEST(Data, IteratorsCanBeginAgainWithOtherDataSets) {
  Graph g;
  const data::Iterator iterator = data::Iterator::from_structure(g, {DType::Int64}, {Shape{}});
  const Operation first = iterator.make_initializer(Dataset::range(g, 100).prefetch(2)),
                  second = iterator.make_initializer(Dataset::range(g, 50, 60));
  const Output next = iterator.get_next()[0];
  Session session(g);
  for (int round = 0; round < 20; ++round) {
    session.run(first);
    EXPECT_EQ(session.run(next).scalar<int64_t>(), 0);
    session.run(second);
    EXPECT_EQ(session.run(next).scalar<int64_t>(), 50);
  }
  const Operation wrong = iterator.make_initializer(Dataset::from_tensors(g, {Tensor(1.f)}));
  EXPECT_EQ(code_of([&] { session.run(wrong); }), Code::InvalidArgument);
}

TEST(Data, HandlesChooseAnIterator) {
  Graph g;
  const data::Iterator a = Dataset::range(g, 10).initializable_iterator("a"),
                       b = Dataset::range(g, 100, 110).initializable_iterator("b");
  const Output handle = g.placeholder(DType::String, Shape{});
  const Output next = data::Iterator::from_string_handle(handle, {DType::Int64}, {Shape{}}).get_next()[0];
  const Output to_a = a.string_handle(), to_b = b.string_handle();
  Session session(g);
  session.run(a.initializer());
  session.run(b.initializer());
  const Tensor handle_a = session.run(to_a), handle_b = session.run(to_b);
  EXPECT_EQ(session.run(next, {{handle, handle_a}}).scalar<int64_t>(), 0);
  EXPECT_EQ(session.run(next, {{handle, handle_b}}).scalar<int64_t>(), 100);
  EXPECT_EQ(session.run(next, {{handle, handle_a}}).scalar<int64_t>(), 1);
  EXPECT_EQ(code_of([&] { session.run(next, {{handle, "nonsense"}}); }), Code::InvalidArgument);
}

TEST(Data, ErrorsOfFunctionsNameTheirNodeAndLoseOneElement) {
  Graph g;
  const auto dataset = Dataset::from_tensor_slices(g, {Tensor(std::vector<float>{1, 0, 2})}).map([](Output x) {
    return NodeBuilder("CheckNumerics", "checked").input(1.f / x).attr("message", "bad").output();
  });
  const data::Iterator iterator = dataset.initializable_iterator();
  const Output next = iterator.get_next()[0];
  Session session(g);
  session.run(iterator.initializer());
  EXPECT_EQ(session.run(next).scalar<float>(), 1);
  try {
    session.run(next);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::InvalidArgument);
    EXPECT_EQ(e.node(), "checked");
    EXPECT_FALSE(e.line().file.empty());
  }
  EXPECT_EQ(session.run(next).scalar<float>(), 0.5f);
}

// Nothing lost, nothing twice, whoever asks.
TEST(Data, SeveralThreadsShareTheElements) {
  Graph g;
  for (const Dataset& dataset :
       {Dataset::range(g, 4000),
        Dataset::range(g, 4000).map([](Output x) { return x; }, {.num_parallel_calls = 4}).prefetch(8)}) {
    const data::Iterator iterator = dataset.initializable_iterator();
    const Output next = iterator.get_next()[0];
    Session session(g);
    session.run(iterator.initializer());
    std::vector<std::atomic<int>> seen(4000);
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&] {
        for (;;) {
          try {
            ++seen[static_cast<size_t>(session.run(next).scalar<int64_t>())];
          } catch (const Error& e) {
            EXPECT_EQ(e.code(), Code::OutOfRange);
            return;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& count : seen) ASSERT_EQ(count, 1);
  }
}

// A filter that lets nothing through, in the caller's thread and behind others, ends with the session.
TEST(Data, CloseEndsAPipelineThatGivesNothing) {
  Graph g;
  auto nothing = [](Output x) { return x < Tensor(int64_t{0}); };
  const auto silent = Dataset::range(g, INT64_MAX).filter(nothing);
  for (const Dataset& dataset : {silent, silent.prefetch(1), silent.batch(2),
                                 silent.map([](Output x) { return x; }, {.num_parallel_calls = 3})}) {
    const data::Iterator iterator = dataset.initializable_iterator();
    const Output next = iterator.get_next()[0];
    Session session(g);
    session.run(iterator.initializer());
    std::thread asker([&] { EXPECT_EQ(code_of([&] { session.run(next); }), Code::Cancelled); });
    std::this_thread::sleep_for(20ms);
    session.close();
    asker.join();
  }
}

TEST(Data, DeadlinesEndTheWaitAndLoseNothing) {
  Graph g;
  const auto slow = Dataset::range(g, INT64_MAX).filter([](Output x) { return x >= Tensor(int64_t{200000}); });
  const data::Iterator iterator = slow.prefetch(1).initializable_iterator();
  const Output next = iterator.get_next()[0];
  Session session(g);
  session.run(iterator.initializer());
  EXPECT_EQ(code_of([&] { session.run(next, {}, {}, {.timeout = 1ms}); }), Code::DeadlineExceeded);
  EXPECT_EQ(session.run(next).scalar<int64_t>(), 200000);
}

TEST(Data, GraphDefsKeepFunctions) {
  Graph g;
  const Output ten = g.constant(Tensor(int64_t{10}), "ten");
  const auto dataset = Dataset::range(g, 5).flat_map(
      [&](Output x) { return Dataset::range(x.graph(), x).map([&](Output y) { return y * ten + x; }); });
  const data::Iterator iterator = dataset.initializable_iterator();
  const Output next = iterator.get_next("next")[0];
  const Operation initializer = iterator.initializer();
  auto values = [](Graph& graph, const Output& fetch, const Operation& init) {
    Session session(graph);
    session.run(init);
    Numbers all;
    for (int i = 0; i < 10; ++i) all.push_back(session.run(fetch).scalar<int64_t>());
    return all;
  };
  const Numbers wanted = values(g, next, initializer);
  Graph copy;
  copy.import_graph_def(g.to_graph_def());
  EXPECT_EQ(values(copy, copy.output("next:0"), copy.operation(initializer.name())), wanted);
  Graph again;
  again.import_graph_def(copy.to_graph_def());
  EXPECT_EQ(values(again, again.output("next:0"), again.operation(initializer.name())), wanted);
}

TEST(Data, OneShotIteratorsRefuseState) {
  Graph g;
  Variable w = g.variable("w", Tensor(int64_t{5}), {.use_resource = true});
  const auto dataset = Dataset::range(g, 3).map([&](Output x) { return x + w.value(); });
  EXPECT_EQ(code_of([&] { dataset.one_shot_iterator(); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { Dataset::range(g, g.placeholder(DType::Int64, Shape{})).one_shot_iterator(); }),
            Code::InvalidArgument);
}

TEST(Data, BadValuesAreClearErrors) {
  Graph g;
  auto fails = [&](const Dataset& dataset) { return code_of([&] { numbers(g, dataset, 3); }); };
  const auto five = Dataset::range(g, 5);
  EXPECT_EQ(fails(five.batch(0)), Code::InvalidArgument);
  EXPECT_EQ(fails(five.shuffle(0)), Code::InvalidArgument);
  EXPECT_EQ(fails(five.shard(3, 3)), Code::InvalidArgument);
  EXPECT_EQ(fails(five.shard(0, 0)), Code::InvalidArgument);
  EXPECT_EQ(fails(five.prefetch(-2)), Code::InvalidArgument);
  EXPECT_EQ(fails(Dataset::range(g, 0, 5, 0)), Code::InvalidArgument);
  EXPECT_EQ(fails(five.map([](Output x) { return x; }, {.num_parallel_calls = 0})), Code::InvalidArgument);
  EXPECT_EQ(fails(Dataset::range(g, 1, 4).map([](Output n) { return fill(reshape(cast(n, int32), {1}), n); }).batch(2)),
            Code::InvalidArgument);
}

TEST(Data, FunctionsHaveNamesOfTheirOwn) {
  Graph g;
  const int64_t before = g.version();
  Dataset::range(g, 5).map([](Output x) {
    EXPECT_EQ((x + Tensor(int64_t{1})).op().name(), "add");
    return x;
  });
  EXPECT_EQ(g.constant(Tensor(1), "add").op().name(), "add");
  EXPECT_FALSE(g.find("arg0"));
  EXPECT_EQ(static_cast<int64_t>(g.operations().size()), g.version());
  EXPECT_GT(g.version(), before);
}

}  // namespace
}  // namespace weir
