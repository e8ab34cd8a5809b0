#include "io/tensor_bundle.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/errors.h"
#include "io/checkpoint_v1.h"
#include "io/snappy.h"
#include "io/table.h"
#include "weir/checkpoint.h"

namespace weir::io {
namespace {

namespace fs = std::filesystem;

// A directory of the test's own, removed at its end.
class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern = (fs::temp_directory_path() / "weir_io_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~Files() override { fs::remove_all(directory_); }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(directory_), {})); }

  std::string directory_;
};

using FileTest = Files;
using TableTest = Files;
using BundleTest = Files;
using V1Test = Files;

constexpr const char* kTheirs = WEIR_SOURCE_DIR "/tests/data/checkpoints/";

Code code_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::Ok;
}

std::string bytes_of(const Tensor& t) {
  if (t.dtype() != DType::String) return {static_cast<const char*>(t.raw()), t.bytes()};
  std::string all;
  for (const std::string& text : t.data<std::string>()) all += fmt::format("{}:{},", text.size(), text);
  return all;
}

void expect_same(const Tensor& a, const Tensor& b, const std::string& name) {
  EXPECT_EQ(a.dtype(), b.dtype()) << name;
  EXPECT_EQ(a.shape(), b.shape()) << name;
  EXPECT_EQ(bytes_of(a), bytes_of(b)) << name;
}

template <class T>
Tensor iota(const Shape& shape, double step = 1) {
  Tensor t(dtype_of<T>, shape);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<T>()[i] = static_cast<T>(static_cast<double>(i) * step);
  return t;
}

template <class T>
void add_type(std::map<std::string, Tensor>& all) {
  all[fmt::format("type/{}", dtype_name(dtype_of<T>))] = Tensor::from<T>({T(0), T(1), T(1)}, {3});
}

// What tests/conformance/checkpoint_exchange.py writes.
std::map<std::string, Tensor> values(bool old) {
  std::map<std::string, Tensor> all;
  add_type<float>(all), add_type<double>(all), add_type<int8_t>(all), add_type<int16_t>(all), add_type<int32_t>(all);
  add_type<int64_t>(all), add_type<uint8_t>(all), add_type<uint16_t>(all), add_type<bool>(all);
  add_type<std::complex<float>>(all), add_type<std::complex<double>>(all), add_type<Half>(all);
  if (!old) add_type<BFloat16>(all), add_type<uint32_t>(all), add_type<uint64_t>(all);
  all["scalar"] = Tensor(1.5f);
  all["matrix"] = iota<float>({2, 3}, 0.25);
  all["empty"] = Tensor(float32, {0, 3});
  all["strings"] = Tensor::from<std::string>({"a", "bc", "", std::string(300, 'x')}, {2, 2});
  all["layer/weights"] = iota<int32_t>({40, 50});
  return all;
}

TensorSlice slice_of(std::vector<TensorSlice::Extent> extents) { return TensorSlice(std::move(extents)); }

struct Slice {
  const char *name, *place;
  int64_t row, rows, column, columns;
};
constexpr Slice kSlices[] = {{"rows", "6 2 0,2:-", 0, 2, 0, 2},
                             {"rows", "6 2 2,3:-", 2, 3, 0, 2},
                             {"rows", "6 2 5,1:-", 5, 1, 0, 2},
                             {"columns", "2 5 -:0,3", 0, 2, 0, 3},
                             {"columns", "2 5 -:3,2", 0, 2, 3, 2}};

std::map<std::string, Tensor> sliced() { return {{"rows", iota<float>({6, 2})}, {"columns", iota<int64_t>({2, 5})}}; }

template <class Writer>
void write_all(Writer& writer, bool old) {
  for (const auto& [name, tensor] : values(old)) {
    writer.add_slice(name, tensor.shape(), TensorSlice::whole(tensor.shape().rank()), tensor);
  }
  for (const Slice& s : kSlices) {
    const Tensor whole = sliced()[s.name];
    const auto [shape, slice] = parse_shape_and_slice(s.place);
    Tensor part(whole.dtype(), {s.rows, s.columns});
    copy_overlap(whole, TensorSlice::whole(2).resolved(shape), part, slice.resolved(shape));
    writer.add_slice(s.name, shape, slice, part);
  }
  writer.finish();
}

template <class Reader>
void expect_all(const Reader& reader, bool old) {
  auto expected = values(old);
  expected.merge(sliced());
  for (const auto& [name, tensor] : expected) expect_same(reader.get_tensor(name), tensor, name);
  EXPECT_EQ(reader.tensors().size(), expected.size());
}

TEST_F(FileTest, DurableFileAppearsOnlyWhenCommitted) {
  {
    DurableFile file(path("a"));
    file.append("some bytes");
    EXPECT_FALSE(file_exists(path("a")));
  }
  EXPECT_EQ(files(), 0u);
  write_file_durably(path("a"), std::string(200000, 'x') + "y");
  EXPECT_EQ(read_file(path("a")), std::string(200000, 'x') + "y");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, ErrorsNameThePathAndTheReason) {
  try {
    read_file(path("nothing"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::NotFound);
    EXPECT_NE(e.message().find(path("nothing")), std::string::npos);
    EXPECT_NE(e.message().find("No such file"), std::string::npos);
  }
  EXPECT_EQ(code_of([&] { DurableFile file(path("no/such/directory")); }), Code::NotFound);
  EXPECT_EQ(code_of([&] { RandomAccessFile file(directory_); }), Code::FailedPrecondition);
}

TEST_F(TableTest, HoldsManyEntriesInOrder) {
  std::map<std::string, std::string> entries;
  for (int i = 0; i < 5000; ++i) entries[fmt::format("key/{}", i * 7)] = std::string(static_cast<size_t>(i % 300), 'v');
  entries[""] = "empty key";
  DurableFile file(path("t"));
  TableWriter writer(file);
  for (const auto& [key, value] : entries) writer.add(key, value);
  EXPECT_EQ(code_of([&] { writer.add("a", ""); }), Code::InvalidArgument);
  writer.finish();
  file.commit();
  TableReader reader(path("t"));
  std::map<std::string, std::string> found;
  reader.for_each([&](std::string_view key, std::string_view value) { found.emplace(key, value); });
  EXPECT_EQ(found, entries);
  EXPECT_EQ(reader.find("key/7"), "v");
  EXPECT_EQ(reader.find("key/8"), std::nullopt);
  EXPECT_EQ(reader.find("zzz"), std::nullopt);
}

TEST(Snappy, UnpacksLiteralsAndOverlappingCopies) {
  // 12 bytes: literal "ab", copy of 10 at distance 2.
  EXPECT_EQ(snappy_uncompress(std::string("\x0c\x04"
                                          "ab\x26\x02\x00",
                                          7)),
            "abababababab");
  EXPECT_EQ(snappy_uncompress(std::string("\x0c\x04"
                                          "ab\x26\x03\x00",
                                          7)),
            std::nullopt);  // reaches before the beginning
  EXPECT_EQ(snappy_uncompress(std::string("\xff\xff\xff\xff\x0f\x00"
                                          "a",
                                          7)),
            std::nullopt);
  EXPECT_EQ(snappy_uncompress(""), std::nullopt);
}

TEST_F(BundleTest, ReadsBackWhatItWrote) {
  BundleWriter writer(path("v2"));
  write_all(writer, false);
  expect_all(train::CheckpointReader(path("v2")), false);
  EXPECT_EQ(files(), 2u);
}

// For tests/conformance/checkpoint_exchange.py, which lets TensorFlow read them.
TEST_F(BundleTest, LeavesFilesForTensorFlow) {
  const std::string directory = (fs::temp_directory_path() / "weir_checkpoints").string();
  BundleWriter v2(directory + "/v2");
  write_all(v2, false);
  V1Writer v1(directory + "/v1");
  write_all(v1, true);
  expect_all(train::CheckpointReader(directory + "/v2"), false);
}

TEST_F(BundleTest, ReadsTensorFlowsFiles) {
  expect_all(train::CheckpointReader(std::string(kTheirs) + "v2"), false);
  train::CheckpointReader sharded(std::string(kTheirs) + "sharded_v2");
  expect_same(sharded.get_tensor("a"), iota<float>({3}), "a");
  expect_same(sharded.get_tensor("b"), iota<int32_t>({4}), "b");
}

TEST_F(BundleTest, WritesTensorFlowsBytes) {
  BundleWriter writer(path("v2"));
  // In TensorFlow's order, so that the data file can be compared as a whole.
  for (const auto& [name, tensor] : values(false)) writer.add(name, tensor);
  for (const Slice& s : kSlices) {
    const auto [shape, slice] = parse_shape_and_slice(s.place);
    Tensor part(sliced()[s.name].dtype(), {s.rows, s.columns});
    copy_overlap(sliced()[s.name], TensorSlice::whole(2).resolved(shape), part, slice.resolved(shape));
    writer.add_slice(s.name, shape, slice, part);
  }
  writer.finish();
  EXPECT_EQ(read_file(data_path(path("v2"), 0, 1)), read_file(std::string(kTheirs) + "v2.data-00000-of-00001"));
  const BundleReader ours(path("v2")), theirs(std::string(kTheirs) + "v2");
  ASSERT_EQ(ours.entries().size(), theirs.entries().size());
  for (const auto& [key, entry] : theirs.entries()) {
    ASSERT_TRUE(ours.entries().contains(key)) << key;
    EXPECT_EQ(ours.entries().find(key)->second.SerializeAsString(), entry.SerializeAsString()) << key;
  }
}

TEST_F(BundleTest, ReadsSlices) {
  const std::string prefix = std::string(kTheirs) + "v2";
  train::CheckpointReader reader(prefix);
  expect_same(reader.get_slice("rows", "6 2 1,4:1,1"), Tensor::from<float>({3, 5, 7, 9}, {4, 1}), "rows");
  expect_same(reader.get_slice("matrix", "2 3 1,1:-"), Tensor::from<float>({.75f, 1, 1.25f}, {1, 3}), "matrix");
  expect_same(reader.get_slice("strings", "2 2 -:1,1"),
              Tensor::from<std::string>({"bc", std::string(300, 'x')}, {2, 1}), "strings");
  EXPECT_EQ(code_of([&] { reader.get_slice("rows", "6 3 -:-"); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { reader.get_slice("rows", "6 2 5,2:-"); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { reader.get_slice("rows", "6 2 x"); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { reader.get_tensor("nothing"); }), Code::NotFound);
}

TEST_F(BundleTest, RefusesNamesThatComeTwice) {
  BundleWriter writer(path("c"));
  writer.add("a", Tensor(1.f));
  EXPECT_EQ(code_of([&] { writer.add("a", Tensor(1.f)); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] {
              writer.add_slice("a", {2}, slice_of({{0, 1}}), Tensor(std::vector{1.f}));
            }),
            Code::InvalidArgument);
}

TEST_F(BundleTest, SavingOverACheckpointKeepsTheOldOneUntilTheEnd) {
  for (int i = 0; i < 4; ++i) {
    BundleWriter writer(path("c"));
    writer.add("v", Tensor(i));
    if (i > 0) {
      EXPECT_EQ(train::CheckpointReader(path("c")).get_tensor("v").scalar<int>(), i - 1);
    }
    writer.finish();
    EXPECT_EQ(train::CheckpointReader(path("c")).get_tensor("v").scalar<int>(), i);
    EXPECT_EQ(files(), 2u);
  }
}

TEST_F(BundleTest, MergesShards) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2; ++i) {
      BundleWriter writer(path(fmt::format("temp/part-{}", i)));
      writer.add(fmt::format("v{}", i), Tensor(10 * round + i));
      writer.add_slice("p", {2}, slice_of({{i, 1}}), Tensor(std::vector{i + round}));
      writer.finish();
    }
    const std::vector<std::string> parts = {path("temp/part-0"), path("temp/part-1")};
    merge_bundles(parts, path("c"));
    train::CheckpointReader reader(path("c"));
    EXPECT_EQ(reader.get_tensor("v1").scalar<int>(), 10 * round + 1);
    expect_same(reader.get_tensor("p"), Tensor(std::vector{round, round + 1}), "p");
    EXPECT_EQ(files(), 4u);  // index, two data files, the empty directory
  }
}

TEST_F(BundleTest, RefusesFilesOfBigEndianMachines) {
  DurableFile file(index_path(path("c")));
  TableWriter table(file);
  proto::BundleHeaderProto header;
  header.set_num_shards(1);
  header.set_endianness(proto::BundleHeaderProto::BIG);
  table.add("", header.SerializeAsString());
  table.finish();
  file.commit();
  EXPECT_EQ(code_of([&] { BundleReader reader(path("c")); }), Code::Unimplemented);
}

TEST_F(BundleTest, NeverTakesMoreMemoryThanTheFileIsWorth) {
  for (const char* kind : {"shape", "slices", "string"}) {
    DurableFile file(index_path(path("c")));
    TableWriter table(file);
    proto::BundleHeaderProto header;
    header.set_num_shards(1);
    table.add("", header.SerializeAsString());
    proto::BundleEntryProto entry;
    entry.set_dtype(kind == std::string_view("string") ? proto::DT_STRING : proto::DT_FLOAT);
    entry.mutable_shape()->add_dim()->set_size(int64_t{1} << 40);
    if (kind == std::string_view("slices")) {
      entry.add_slices()->add_extent();
    } else {
      entry.set_size(int64_t{1} << 42);
    }
    table.add("huge", entry.SerializeAsString());
    table.finish();
    file.commit();
    write_file(data_path(path("c"), 0, 1), "few bytes");
    EXPECT_EQ(code_of([&] { BundleReader(path("c")).read("huge"); }), Code::DataLoss) << kind;
    EXPECT_EQ(code_of([&] { BundleReader(path("c")).check_complete(); }) == Code::Ok, false) << kind;
  }
}

TEST_F(V1Test, ReadsBackWhatItWrote) {
  V1Writer writer(path("v1"));
  write_all(writer, true);
  expect_all(train::CheckpointReader(path("v1")), true);
  EXPECT_EQ(train::CheckpointReader(path("v1")).version(), 1);
}

TEST_F(V1Test, ReadsTensorFlowsFiles) {
  expect_all(train::CheckpointReader(std::string(kTheirs) + "v1"), true);
  train::CheckpointReader sharded(std::string(kTheirs) +
                                  "sharded_v1-?????"
                                  "-of-00002");
  expect_same(sharded.get_tensor("a"), iota<float>({3}), "a");
  expect_same(sharded.get_tensor("b"), iota<int32_t>({4}), "b");
  train::CheckpointReader whole(std::string(kTheirs) + "v1");
  expect_same(whole.get_slice("rows", "6 2 1,4:1,1"), Tensor::from<float>({3, 5, 7, 9}, {4, 1}), "rows");
}

// Everything in a checkpoint, or the error that reading it ends with.
std::string everything(const std::string& prefix) {
  train::CheckpointReader reader(prefix);
  std::string all = reader.debug_string();
  for (const auto& tensor : reader.tensors()) all += bytes_of(reader.get_tensor(tensor.name)) + "\n";
  return all;
}

// Damages `file` in every way that a byte can be lost: each flipped, and the file cut after each. Reading gives the
// same values, or a clean error.
void damage(const std::string& file, const std::string& prefix) {
  const std::string good = read_file(file), expected = everything(prefix);
  auto check = [&](const std::string& bytes, const std::string& what) {
    write_file(file, bytes);
    try {
      EXPECT_EQ(everything(prefix), expected) << what;
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::DataLoss || e.code() == Code::Unimplemented) << what << ": " << e.what();
      EXPECT_NE(e.message().find(prefix), std::string::npos) << e.what();
    }
  };
  for (size_t i = 0; i < good.size(); ++i) {
    for (unsigned flip : {0x01u, 0x80u, 0xffu}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(static_cast<uint8_t>(bytes[i]) ^ flip);
      check(bytes, fmt::format("byte {} of {} flipped by {:x}", i, file, flip));
    }
    check(good.substr(0, i), fmt::format("{} cut at {}", file, i));
  }
  write_file(file, good);
}

TEST_F(BundleTest, DamageIsFoundOrHarmless) {
  BundleWriter writer(path("c"));
  writer.add("float", iota<float>({2, 3}));
  writer.add("strings", Tensor(std::vector<std::string>{"one", "", "three"}));
  writer.add("bool", Tensor(true));
  writer.add_slice("part", {4}, slice_of({{0, 2}}), iota<int32_t>({2}));
  writer.add_slice("part", {4}, slice_of({{2, 2}}), iota<int32_t>({2}));
  writer.finish();
  damage(index_path(path("c")), path("c"));
  damage(data_path(path("c"), 0, 1), path("c"));
}

TEST_F(V1Test, DamageIsFoundOrHarmless) {
  for (const char* name : {"sharded_v1-00000-of-00002", "v1"}) {
    fs::copy_file(std::string(kTheirs) + name, path(name));
    if (name == std::string_view("v1")) continue;  // too large for every byte
    damage(path(name), path(name));
  }
  const std::string good = read_file(path("v1"));
  for (size_t i = 0; i < good.size(); i += 13) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    write_file(path("v1"), bytes);
    const Code code = code_of([&] { everything(path("v1")); });
    EXPECT_TRUE(code == Code::Ok || code == Code::DataLoss) << i;
  }
}

TEST(TensorSlice, KeysOfSlicesAreTensorFlows) {
  // From TensorFlow's EncodeTensorNameSlice.
  EXPECT_EQ(slice_key("p", slice_of({{0, 2}, {0, TensorSlice::kWhole}})),
            std::string("\0p\0\1\1\2\x80\x82\x80\x7f", 10));
  EXPECT_EQ(slice_key("p", slice_of({{64, 300}})), std::string("\0p\0\1\1\1\xc0\x40\xc1\x2c", 10));
}

}  // namespace
}  // namespace weir::io
