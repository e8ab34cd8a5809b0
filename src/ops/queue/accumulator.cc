#include "ops/queue/accumulator.h"

#include <cstdio>

#include "base/errors.h"
#include "ops/queue/batch.h"

namespace weir::ops {
namespace {

// Calls f with a value of the gradients' type.
template <class F>
void with_gradient_type(DType dtype, F f) {
  switch (dtype) {
    case DType::Float32:
      return f(float());
    case DType::Float64:
      return f(double());
    case DType::Float16:
      return f(Half());
    default:
      throw error(Code::Unimplemented, "gradients of type {} cannot be accumulated", dtype_name(dtype));
  }
}

void add_to(Tensor& sum, const Tensor& gradient) {
  with_gradient_type(sum.dtype(), [&]<class T>(T) {
    T* to = sum.mutable_data<T>();
    const auto from = gradient.data<T>();
    for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<T>(to[i] + from[i]);
  });
}

void divide(Tensor& sum, int64_t count) {
  with_gradient_type(sum.dtype(), [&]<class T>(T) {
    T* to = sum.mutable_data<T>();
    const T by = static_cast<T>(static_cast<float>(count));
    for (int64_t i = 0; i < sum.elements(); ++i) to[i] = static_cast<T>(to[i] / by);
  });
}

}  // namespace

class Accumulator::Take final : public Visit {
 public:
  Take(Accumulator& accumulator, int64_t required) : accumulator_(&accumulator), required_(required) {}
  bool ready() const override { return accumulator_->count_ >= required_; }
  Outcome attempt() override {
    if (!ready()) return Outcome::Waits;
    taken_ = accumulator_->take_out();
    accumulator_->count_ = 0;
    ++accumulator_->step_;
    return Outcome::Done;
  }
  void deliver(KernelContext& c) override {
    for (size_t i = 0; i < taken_.size(); ++i) c.set_output(static_cast<int>(i), std::move(taken_[i]));
  }
  std::string_view name() const override { return "TakeGrad"; }

 private:
  Accumulator* accumulator_;
  int64_t required_;
  std::vector<Tensor> taken_;
};

std::string Accumulator::describe() const {
  return fmt::format("accumulator '{}' ({} gradients)", options_.name, accumulated());
}

void Accumulator::set_global_step(int64_t step) {
  std::lock_guard lock(mutex_);
  if (step < step_) {
    std::fprintf(stderr, "weir: accumulator '%s' goes back from step %lld to %lld\n", options_.name.c_str(),
                 static_cast<long long>(step_), static_cast<long long>(step));
  }
  step_ = step;
}

int64_t Accumulator::accumulated() const {
  std::lock_guard lock(mutex_);
  return count_;
}

void Accumulator::take(int64_t required, KernelContext& c, Completion done) {
  if (required <= 0) throw invalid_argument("Argument num_required must be positive, but was {}", required);
  come(Side::Taking, Take(*this, required), c, done);
}

void Accumulator::apply(int64_t local_step, FunctionRef<void()> add) {
  change([&] {
    if (local_step < step_) return;
    add();
    ++count_;
  });
}

void DenseAccumulator::add(int64_t local_step, const Tensor& gradient) {
  apply(local_step, [&] {
    const Shape& expected = count() > 0 ? sum_.shape() : options().shape;
    for (const Shape& shape : {expected, options().shape}) {
      if (shape.compatible(gradient.shape())) continue;
      throw invalid_argument("Shape mismatch: expected {}, got {}", shape.str(), gradient.shape().str());
    }
    if (count() > 0) {
      add_to(sum_, gradient);
    } else {
      sum_ = gradient.copy();
    }
  });
}

std::vector<Tensor> DenseAccumulator::take_out() {
  if (options().is_mean) divide(sum_, count());
  return {std::exchange(sum_, Tensor())};
}

void SparseAccumulator::check(const Tensor& indices, const Tensor& values, const Tensor& given) const {
  const Shape& shape = options().shape;
  if (indices.shape().rank() != 1) {
    throw invalid_argument("Input indices should be vector but received shape: {}", indices.shape().str());
  }
  if (values.shape().rank() == 0) throw invalid_argument("Values cannot be 0-dimensional.");
  if (values.shape().dim(0) != indices.elements()) {
    throw invalid_argument("Expected {} non-empty input values, got {}", indices.elements(), values.shape().dim(0));
  }
  const int rank = shape.has_rank() ? shape.rank() : 0;
  if (given.valid()) {
    if (rank > given.elements()) {
      throw invalid_argument("Shape mismatch: expected shape rank at least {}, got {}", rank, given.elements());
    }
    for (int i = 0; i < rank; ++i) {
      const int64_t wanted = shape.dim(i), got = given.data<int64_t>()[static_cast<size_t>(i)];
      if (wanted != kUnknown && wanted != got) {
        throw invalid_argument("Shape mismatch: expected shape dim {} to be {}, got {}", i, wanted, got);
      }
    }
  }
  for (int64_t i = 0; i < indices.elements(); ++i) {
    const int64_t index = indices.data<int64_t>()[static_cast<size_t>(i)];
    if (index < 0 || (rank > 0 && shape.dim(0) != kUnknown && index >= shape.dim(0))) {
      throw invalid_argument("Shape mismatch: index of slice {} exceeded limits of shape; index is {} exceeded {}", i,
                             index, rank > 0 ? shape.dim(0) : 0);
    }
  }
  const Shape row(values.shape().dims().subspan(1));
  if (count() > 0) {
    if (row.rank() != row_shape_.rank()) {
      throw invalid_argument("Shape mismatch: expected values rank {}, got {}", row_shape_.rank() + 1, row.rank() + 1);
    }
    for (int i = 0; i < row.rank(); ++i) {
      if (row.dim(i) != row_shape_.dim(i)) {
        throw invalid_argument("Shape mismatch: expected values dim {} to be {}, got {}", i + 1, row_shape_.dim(i),
                               row.dim(i));
      }
    }
    return;
  }
  if (rank > row.rank() + 1) {
    throw invalid_argument("Shape mismatch: expected values rank at least {}, got {}", rank, row.rank() + 1);
  }
  for (int i = 1; i < rank; ++i) {
    if (shape.dim(i) != kUnknown && shape.dim(i) != row.dim(i - 1)) {
      throw invalid_argument("Shape mismatch: expected values dim {} to be {}, got {}", i, shape.dim(i),
                             row.dim(i - 1));
    }
  }
}

void SparseAccumulator::add(int64_t local_step, const Tensor& indices, const Tensor& values, const Tensor& shape) {
  apply(local_step, [&] {
    check(indices, values, shape);
    row_shape_ = Shape(values.shape().dims().subspan(1));
    for (int64_t i = 0; i < indices.elements(); ++i) {
      Row& row = rows_[indices.data<int64_t>()[static_cast<size_t>(i)]];
      const Tensor value = row_of(values, i);
      if (row.count++ == 0) {
        row.sum = value.copy();
      } else {
        add_to(row.sum, value);
      }
    }
  });
}

std::vector<Tensor> SparseAccumulator::take_out() {
  std::vector<int64_t> indices;
  std::vector<Tensor> sums;
  for (auto& [index, row] : rows_) {
    indices.push_back(index);
    if (options().is_mean) divide(row.sum, row.count);
    sums.push_back(std::move(row.sum));
  }
  rows_.clear();
  const Shape& declared = options().shape;
  std::vector<int64_t> shape = {declared.has_rank() && declared.rank() > 0 ? declared.dim(0) : -1};
  for (int64_t size : row_shape_.dims()) shape.push_back(size);
  Batches batches;
  return {Tensor(indices), batches.assemble(options().dtype, row_shape_, sums, 1), Tensor(shape)};
}

}  // namespace weir::ops
