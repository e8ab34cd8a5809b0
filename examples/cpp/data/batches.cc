#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "data/batches.h"
#include "data/failure.h"

namespace weir::data {
namespace {

Shape with_rows(const Shape& shape, int64_t rows) {
  Shape result = shape;
  result.set_dim(0, rows);
  return result;
}

void copy_row(const Tensor& from, int64_t from_row, Tensor& to, int64_t to_row) {
  const size_t bytes = from.bytes() / static_cast<size_t>(from.shape()[0]);
  std::memcpy(static_cast<char*>(to.mutable_raw()) + static_cast<size_t>(to_row) * bytes,
              static_cast<const char*>(from.raw()) + static_cast<size_t>(from_row) * bytes, bytes);
}

}  // namespace

Tensor one_hot(const Tensor& labels, int64_t classes) {
  if (labels.shape().rank() != 1 || labels.dtype() != DType::Int64 || classes < 0) {
    throw failure(Code::InvalidArgument,
                  "one_hot needs a vector of int64 labels and a number of classes, got "
                  "{} {} and {}",
                  dtype_name(labels.dtype()), labels.shape().str(), classes);
  }
  Tensor result = Tensor::zeros(DType::Float32, {labels.elements(), classes});
  float* row = result.mutable_data<float>();
  for (int64_t label : labels.data<int64_t>()) {
    if (label < 0 || label >= classes) {
      throw failure(Code::InvalidArgument, "label {} is outside [0, {})", label, classes);
    }
    row[label] = 1;
    row += classes;
  }
  return result;
}

struct Batches::State {
  Tensor images, labels;
  std::mt19937_64 random;
  std::vector<uint32_t> order;  // of the rows in this pass
  size_t position = 0;
  int64_t epochs = 0;

  // Fisher and Yates' shuffle, written out because std::shuffle's order differs between standard libraries.
  void shuffle() {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    position = 0;
  }

  int64_t next_row() {
    if (position == order.size()) {
      ++epochs;
      shuffle();
    }
    return order[position++];
  }
};

Batches::Batches(Tensor images, Tensor labels, uint64_t seed) : state_(std::make_unique<State>()) {
  const auto rows = [](const Tensor& tensor) { return tensor.shape().rank() < 1 ? 0 : tensor.shape()[0]; };
  const bool strings = images.dtype() == DType::String || labels.dtype() == DType::String;
  if (strings || rows(images) < 1 || rows(images) != rows(labels) || rows(images) > UINT32_MAX) {
    throw failure(Code::InvalidArgument, "Batches needs two tensors of numbers with as many rows, got {} {} and {} {}",
                  dtype_name(images.dtype()), images.shape().str(), dtype_name(labels.dtype()), labels.shape().str());
  }
  state_->order.resize(static_cast<size_t>(rows(images)));
  std::iota(state_->order.begin(), state_->order.end(), 0u);
  state_->images = std::move(images);
  state_->labels = std::move(labels);
  state_->random.seed(seed);
  state_->shuffle();
}

Batches::Batches(Batches&&) noexcept = default;
Batches& Batches::operator=(Batches&&) noexcept = default;
Batches::~Batches() = default;

Batches::Batch Batches::next(int64_t size) {
  if (size < 0) throw failure(Code::InvalidArgument, "a batch of {} rows was asked for", size);
  State& state = *state_;
  Batch batch{Tensor(state.images.dtype(), with_rows(state.images.shape(), size)),
              Tensor(state.labels.dtype(), with_rows(state.labels.shape(), size))};
  for (int64_t i = 0; i < size; ++i) {
    const int64_t row = state.next_row();
    copy_row(state.images, row, batch.images, i);
    copy_row(state.labels, row, batch.labels, i);
  }
  return batch;
}

int64_t Batches::epochs() const { return state_->epochs; }

}  // namespace weir::data
