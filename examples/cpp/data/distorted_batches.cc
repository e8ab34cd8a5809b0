#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "data/cifar10.h"
#include "data/failure.h"

namespace weir::data {
namespace {

// More than these is a mistake.
constexpr int kMostThreads = 256, kMostPrefetched = 4096;

// Random numbers that can begin anywhere: SplitMix64 from a state that depends on the seed and on what the numbers are
// for, so that neither the order of the work nor the number of threads changes them.
class Random {
 public:
  enum class Use : uint64_t { Order = 1, Picture = 2 };
  Random(uint64_t seed, Use use, uint64_t index) {
    for (uint64_t part : {seed, static_cast<uint64_t>(use), index}) state_ = mix(state_ + kStep + part);
  }

  uint64_t next() { return mix(state_ += kStep); }
  int64_t below(int64_t limit) { return static_cast<int64_t>(next() % static_cast<uint64_t>(limit)); }
  // Uniform from `low` up to, but not including, `high`.
  double between(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  uint64_t state_ = 0;
};

// The row of each sample: passes over all rows, each in its own order.
class Order {
 public:
  Order(int64_t rows, uint64_t seed) : seed_(seed), rows_(static_cast<size_t>(rows)) {}

  int64_t row(int64_t sample) {
    const auto count = static_cast<int64_t>(rows_.size());
    if (sample / count != pass_) shuffle(sample / count);
    return rows_[static_cast<size_t>(sample % count)];
  }

 private:
  void shuffle(int64_t pass) {
    pass_ = pass;
    std::iota(rows_.begin(), rows_.end(), int64_t{0});
    Random random(seed_, Random::Use::Order, static_cast<uint64_t>(pass));
    for (auto i = static_cast<int64_t>(rows_.size()); i > 1; --i) {
      std::swap(rows_[static_cast<size_t>(i - 1)], rows_[static_cast<size_t>(random.below(i))]);
    }
  }

  uint64_t seed_;
  std::vector<int64_t> rows_;
  int64_t pass_ = -1;
};

// A part of a picture, cut out and perhaps flipped.
struct Cut {
  const uint8_t* picture;  // of 3 channels
  int64_t picture_width;
  int64_t top, left, height, width;
  bool flip = false;

  void copy_to(uint8_t* to) const {
    for (int64_t y = 0; y < height; ++y) {
      const uint8_t* row = picture + ((top + y) * picture_width + left) * 3;
      if (!flip) {
        to = std::copy_n(row, width * 3, to);
        continue;
      }
      for (const uint8_t* pixel = row + (width - 1) * 3; pixel >= row; pixel -= 3) to = std::copy_n(pixel, 3, to);
    }
  }
};

// Brightness, contrast and whitening of bytes.
//
// All three together multiply every byte by one number and add another for each channel, and both follow from the
// channels' sums and sums of squares, which integers hold exactly: one pass to count, one to write.
struct Tone {
  double brightness = 0, contrast = 1;
  bool whiten = true;

  void apply(const uint8_t* from, int64_t pixels, int64_t width, float* to, std::vector<float>& row_offsets) const {
    uint64_t sums[3] = {}, squares[3] = {};
    for (int64_t i = 0; i < pixels; ++i) {
      for (int c = 0; c < 3; ++c) {
        const uint32_t value = from[3 * i + c];
        sums[c] += value;
        squares[c] += value * value;
      }
    }
    const auto count = static_cast<double>(pixels);
    double mean[3], total_mean = 0, mean_square = 0;
    for (int c = 0; c < 3; ++c) {
      mean[c] = static_cast<double>(sums[c]) / count;
      const double variance = static_cast<double>(squares[c]) / count - mean[c] * mean[c];
      total_mean += mean[c] / 3;  // contrast keeps the channels' means
      mean_square += (contrast * contrast * variance + mean[c] * mean[c]) / 3;
    }
    const double deviation = std::sqrt(std::max(0.0, mean_square - total_mean * total_mean));
    // As TensorFlow: a picture of one colour stays finite.
    const double divisor = whiten ? std::max(deviation, 1 / std::sqrt(3 * count)) : 1;
    const double shift = whiten ? -total_mean : brightness;  // whitening takes any brightness away again
    row_offsets.resize(static_cast<size_t>(3 * width));
    for (int c = 0; c < 3; ++c) {
      const auto offset = static_cast<float>(((1 - contrast) * mean[c] + shift) / divisor);
      for (int64_t x = 0; x < width; ++x) row_offsets[static_cast<size_t>(3 * x + c)] = offset;
    }
    const auto scale = static_cast<float>(contrast / divisor);
    const float* offsets = row_offsets.data();
    for (int64_t at = 0; at < 3 * pixels; at += 3 * width) {
      for (int64_t x = 0; x < 3 * width; ++x) to[at + x] = static_cast<float>(from[at + x]) * scale + offsets[x];
    }
  }
};

// Makes the floats of cuts; keeps its memory from one to the next.
class Darkroom {
 public:
  void develop(const Cut& cut, const Tone& tone, float* to) {
    bytes_.resize(static_cast<size_t>(cut.height * cut.width * 3));
    cut.copy_to(bytes_.data());
    tone.apply(bytes_.data(), cut.height * cut.width, cut.width, to, row_offsets_);
  }

 private:
  std::vector<uint8_t> bytes_;
  std::vector<float> row_offsets_;
};

void require_pictures(const Pictures& p, int64_t height, int64_t width) {
  const Shape& shape = p.images.shape();
  if (p.images.dtype() != DType::UInt8 || shape.rank() != 4 || shape[0] < 1 || shape[3] != 3 ||
      p.labels.dtype() != DType::Int64 || p.labels.shape() != Shape{shape[0]}) {
    throw failure(Code::InvalidArgument,
                  "expected uint8 pictures [n,height,width,3] and int64 labels [n], got {} {} and {} {}",
                  dtype_name(p.images.dtype()), shape.str(), dtype_name(p.labels.dtype()), p.labels.shape().str());
  }
  if (height < 1 || width < 1 || height > shape[1] || width > shape[2]) {
    throw failure(Code::InvalidArgument, "{} x {} pixels cannot be cut out of pictures of {} x {}", height, width,
                  shape[1], shape[2]);
  }
}

const uint8_t* picture(const Pictures& p, int64_t row) {
  const Shape& shape = p.images.shape();
  return p.images.data<uint8_t>().data() + row * shape[1] * shape[2] * 3;
}

}  // namespace

// A ring of batches: number b stands in slot b % prefetch from when it is made until it is taken.
class DistortedBatches::State {
 public:
  State(Pictures pictures, const DistortedBatchesOptions& options)
      : pictures_(std::move(pictures)),
        options_(options),
        order_(pictures_.images.shape()[0], options.seed),
        slots_(static_cast<size_t>(options.prefetch)),
        claimed_(options.first_batch),
        taken_(options.first_batch) {
    try {
      for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& e) {
      stop();
      throw failure(Code::ResourceExhausted, "DistortedBatches: cannot start {} threads: {}", options.threads,
                    e.what());
    }
  }
  ~State() { stop(); }

  Batches::Batch next() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return slot(taken_).ready; });
    Slot taken = std::exchange(slot(taken_), {});
    ++taken_;
    lock.unlock();
    room_.notify_one();
    ready_.notify_one();  // another caller may wait for the next one, which may be there
    if (taken.failure) std::rethrow_exception(taken.failure);
    return std::move(taken.batch);
  }

 private:
  struct Slot {
    bool ready = false;
    Batches::Batch batch;
    std::exception_ptr failure;
  };
  void stop() {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  Slot& slot(int64_t number) { return slots_[static_cast<size_t>(number) % slots_.size()]; }

  void work() {
    Darkroom darkroom;
    std::vector<int64_t> rows(static_cast<size_t>(options_.batch_size));
    std::unique_lock lock(mutex_);
    for (;;) {
      room_.wait(lock, [this] { return closing_ || claimed_ - taken_ < options_.prefetch; });
      if (closing_) return;
      const int64_t number = claimed_++, first = number * options_.batch_size;
      for (size_t i = 0; i < rows.size(); ++i) rows[i] = order_.row(first + static_cast<int64_t>(i));
      lock.unlock();
      Slot made;
      made.ready = true;
      try {
        made.batch = make(first, rows, darkroom);
      } catch (...) {
        made.failure = std::current_exception();
      }
      lock.lock();
      slot(number) = std::move(made);
      ready_.notify_one();
    }
  }

  Batches::Batch make(int64_t first_sample, const std::vector<int64_t>& rows, Darkroom& darkroom) const {
    const Distortions& d = options_.distortions;
    const Shape& shape = pictures_.images.shape();
    Batches::Batch batch{Tensor(DType::Float32, {options_.batch_size, d.height, d.width, 3}),
                         Tensor(DType::Int64, {options_.batch_size})};
    float* to = batch.images.mutable_data<float>();
    for (size_t i = 0; i < rows.size(); ++i, to += d.height * d.width * 3) {
      Random random(options_.seed, Random::Use::Picture, static_cast<uint64_t>(first_sample) + i);
      Cut cut{.picture = picture(pictures_, rows[i]),
              .picture_width = shape[2],
              .top = random.below(shape[1] - d.height + 1),
              .left = random.below(shape[2] - d.width + 1),
              .height = d.height,
              .width = d.width};
      cut.flip = d.flip && random.below(2) == 1;
      Tone tone{.whiten = d.whiten};
      tone.brightness = random.between(-d.max_brightness, d.max_brightness);
      tone.contrast = random.between(d.lower_contrast, d.upper_contrast);
      darkroom.develop(cut, tone, to);
      batch.labels.mutable_data<int64_t>()[i] = pictures_.labels.data<int64_t>()[static_cast<size_t>(rows[i])];
    }
    return batch;
  }

  const Pictures pictures_;
  const DistortedBatchesOptions options_;
  std::mutex mutex_;
  std::condition_variable room_, ready_;
  Order order_;
  std::vector<Slot> slots_;
  int64_t claimed_, taken_;  // numbers of the next batch to be made, and to be taken
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

DistortedBatches::DistortedBatches(Pictures pictures, const DistortedBatchesOptions& options) {
  const Distortions& d = options.distortions;
  require_pictures(pictures, d.height, d.width);
  if (options.batch_size < 1 || options.first_batch < 0 || options.threads < 1 || options.threads > kMostThreads ||
      options.prefetch < 1 || options.prefetch > kMostPrefetched ||
      options.first_batch > std::numeric_limits<int64_t>::max() / 2 / options.batch_size) {
    throw failure(Code::InvalidArgument,
                  "DistortedBatches: batches of {} from number {} on, made by {} threads {} ahead, are not possible",
                  options.batch_size, options.first_batch, options.threads, options.prefetch);
  }
  // Written so that NaN is refused too.
  if (!(d.max_brightness >= 0 && d.lower_contrast >= 0 && d.upper_contrast >= d.lower_contrast)) {
    throw failure(Code::InvalidArgument,
                  "DistortedBatches: brightness up to {} and contrast from {} to {} are not possible", d.max_brightness,
                  d.lower_contrast, d.upper_contrast);
  }
  state_ = std::make_unique<State>(std::move(pictures), options);
}

DistortedBatches::~DistortedBatches() = default;

Batches::Batch DistortedBatches::next() { return state_->next(); }

Batches::Batch central_batch(const Pictures& pictures, int64_t begin, int64_t count, int64_t height, int64_t width) {
  require_pictures(pictures, height, width);
  const Shape& shape = pictures.images.shape();
  if (begin < 0 || count < 0 || count > shape[0] - begin) {
    throw failure(Code::InvalidArgument, "there are no {} pictures from row {} on, only {} in all", count, begin,
                  shape[0]);
  }
  Batches::Batch batch{Tensor(DType::Float32, {count, height, width, 3}), Tensor(DType::Int64, {count})};
  Darkroom darkroom;
  for (int64_t i = 0; i < count; ++i) {
    const Cut cut{.picture = picture(pictures, begin + i),
                  .picture_width = shape[2],
                  .top = (shape[1] - height) / 2,
                  .left = (shape[2] - width) / 2,
                  .height = height,
                  .width = width};
    darkroom.develop(cut, {}, batch.images.mutable_data<float>() + i * height * width * 3);
  }
  std::ranges::copy(pictures.labels.data<int64_t>().subspan(static_cast<size_t>(begin), static_cast<size_t>(count)),
                    batch.labels.mutable_data<int64_t>());
  return batch;
}

}  // namespace weir::data
