#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "data/batches.h"
#include "weir/error.h"

namespace weir::data {
namespace {

// Ten rows: images (i, 10 i), label i.
Batches ten_rows(uint64_t seed) {
  Tensor images(DType::Float32, {10, 2}), labels(DType::Int64, {10});
  for (int i = 0; i < 10; ++i) {
    images.mutable_data<float>()[2 * i] = static_cast<float>(i);
    images.mutable_data<float>()[2 * i + 1] = static_cast<float>(10 * i);
    labels.mutable_data<int64_t>()[i] = i;
  }
  return Batches(images, labels, seed);
}

std::vector<int64_t> labels_of(Batches& batches, int64_t size) {
  const Tensor labels = batches.next(size).labels;
  return {labels.data<int64_t>().begin(), labels.data<int64_t>().end()};
}

TEST(Batches, KeepImagesWithTheirLabels) {
  Batches batches = ten_rows(1);
  const Batches::Batch batch = batches.next(7);
  ASSERT_EQ(batch.images.shape(), (Shape{7, 2}));
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(batch.images.data<float>()[2 * i + 1], 10.0f * static_cast<float>(batch.labels.data<int64_t>()[i]));
  }
}

TEST(Batches, EveryPassHoldsEachRowOnceInANewOrder) {
  Batches batches = ten_rows(1);
  std::set<std::vector<int64_t>> orders;
  for (int pass = 0; pass < 5; ++pass) {
    std::vector<int64_t> order = labels_of(batches, 4);  // 4 + 6, not of the same batch size
    for (int64_t label : labels_of(batches, 6)) order.push_back(label);
    EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 10u);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 5u);
}

TEST(Batches, GoOnWithTheNextPassInsideABatch) {
  Batches batches = ten_rows(1);
  EXPECT_EQ(labels_of(batches, 25).size(), 25u);
  EXPECT_EQ(batches.epochs(), 2);
}

TEST(Batches, TheSeedFixesTheOrder) {
  Batches a = ten_rows(3), b = ten_rows(3), c = ten_rows(4);
  const std::vector<int64_t> order = labels_of(a, 30);
  EXPECT_EQ(order, labels_of(b, 30));
  EXPECT_NE(order, labels_of(c, 30));
}

TEST(Batches, RefuseTensorsThatDoNotBelongTogether) {
  const Tensor two(DType::Float32, {2, 3}), three(DType::Int64, {3}), none(DType::Float32, {0, 3});
  EXPECT_THROW(Batches(two, three), Error);
  EXPECT_THROW(Batches(none, none), Error);
  EXPECT_THROW(Batches(Tensor(1.0f), Tensor(1.0f)), Error);
  EXPECT_THROW(Batches(Tensor("text"), Tensor("text")), Error);
  EXPECT_THROW(ten_rows(1).next(-1), Error);
}

TEST(OneHot, SetsOnePerRow) {
  const Tensor encoded = one_hot(Tensor::from<int64_t>({2, 0}, {2}), 3);
  const auto values = encoded.data<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{0, 0, 1, 1, 0, 0}));
}

TEST(OneHot, RefusesLabelsOutsideTheClasses) {
  EXPECT_THROW(one_hot(Tensor::from<int64_t>({3}, {1}), 3), Error);
  EXPECT_THROW(one_hot(Tensor::from<int64_t>({-1}, {1}), 3), Error);
  EXPECT_THROW(one_hot(Tensor(2.0f), 3), Error);
}

}  // namespace
}  // namespace weir::data
