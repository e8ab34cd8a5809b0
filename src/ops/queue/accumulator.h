#pragma once

#include <map>
#include <string>

#include "ops/queue/meeting.h"

namespace weir::ops {

// Gradients that several workers give and one takes: their mean or sum, once there are enough of them. Those that were
// computed with values of an earlier step than the accumulator's are dropped. Thread-safe. Errors and their words are
// TensorFlow's.
class Accumulator : public Meeting {
 public:
  struct Options {
    std::string name = {};
    DType dtype = DType::Invalid;
    Shape shape = Shape::unknown();
    bool is_mean = true;
  };
  std::string describe() const override;
  const Options& options() const { return options_; }

  // The next step that gradients are taken for.
  void set_global_step(int64_t step);
  int64_t accumulated() const;
  // Takes what at least so many gradients add up to, as the outputs of `c`.
  void take(int64_t required, KernelContext& c, Completion done);

 protected:
  explicit Accumulator(Options options) : Meeting(/*in_order=*/true), options_(std::move(options)) {}
  // Adds a gradient unless it is of an earlier step.
  void apply(int64_t local_step, FunctionRef<void()> add);
  // These REQUIRE the lock.
  virtual std::vector<Tensor> take_out() = 0;  // the outputs; nothing is left
  int64_t count() const { return count_; }

 private:
  class Take;
  const Options options_;
  int64_t count_ = 0, step_ = 0;  // guarded by mutex_
};

class DenseAccumulator final : public Accumulator {
 public:
  explicit DenseAccumulator(Options options) : Accumulator(std::move(options)) {}
  void add(int64_t local_step, const Tensor& gradient);

 private:
  std::vector<Tensor> take_out() override;
  Tensor sum_;  // guarded by mutex_
};

// Gradients of some rows. The mean of a row is that of the gradients which have it.
class SparseAccumulator final : public Accumulator {
 public:
  explicit SparseAccumulator(Options options) : Accumulator(std::move(options)) {}
  // `shape` is invalid when it is not known.
  void add(int64_t local_step, const Tensor& indices, const Tensor& values, const Tensor& shape);

 private:
  std::vector<Tensor> take_out() override;
  void check(const Tensor& indices, const Tensor& values, const Tensor& shape) const;

  struct Row {
    Tensor sum;
    int64_t count = 0;
  };
  std::map<int64_t, Row> rows_;  // both guarded by mutex_
  Shape row_shape_;
};

}  // namespace weir::ops
