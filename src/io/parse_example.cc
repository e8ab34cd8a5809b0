#include "io/parse_example.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/errors.h"
#include "io/feature_wire.h"

namespace weir::io {
namespace {

constexpr int64_t kBytesOfBlock = 1 << 18;  // less is not worth a thread

std::vector<std::string> keys_of(const std::vector<SparseFeature>& sparse, const std::vector<DenseFeature>& dense) {
  std::vector<std::string> keys;
  for (const SparseFeature& feature : sparse) keys.push_back(feature.key);
  for (const DenseFeature& feature : dense) keys.push_back(feature.key);
  return keys;
}

// Elements [from, from + count) of an array of one of the three types.
void* element(DType dtype, void* data, int64_t from) {
  return static_cast<char*>(data) + static_cast<size_t>(from) * dtype_size(dtype);
}

template <class Run>
void with_type(DType dtype, const Run& run) {
  if (dtype == DType::String) {
    run(std::string());
  } else if (dtype == DType::Float32) {
    run(float());
  } else {
    run(int64_t());
  }
}

void copy_default(const Tensor& value, Tensor& to, int64_t at) {
  with_type(value.dtype(), [&]<class T>(T) {
    auto from = value.data<T>();
    std::copy(from.begin(), from.end(), to.mutable_data<T>() + at);
  });
}

void fill_with(const Tensor& value, Tensor& to, int64_t begin, int64_t end) {
  with_type(value.dtype(), [&]<class T>(T) {
    std::fill(to.mutable_data<T>() + begin, to.mutable_data<T>() + end, value.data<T>()[0]);
  });
}

}  // namespace

int64_t DenseFeature::stride() const {
  int64_t stride = 1;
  for (int i = variable_length() ? 1 : 0; i < shape.rank(); ++i) stride = checked_multiply(stride, shape[i]);
  return stride;
}

void DenseFeature::check(int position) const {
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == kUnknown && i > 0) {
      throw invalid_argument("dense_shapes[{}] has unknown rank or unknown inner dimensions: {}", position,
                             shape.str());
    }
  }
  if (!shape.has_rank()) {
    throw invalid_argument("dense_shapes[{}] has unknown rank or unknown inner dimensions: {}", position, shape.str());
  }
  if (variable_length() && stride() == 0) {
    throw invalid_argument("dense_shapes[{}] has rows without elements: {}", position, shape.str());
  }
  if (default_value.dtype() != dtype) {
    throw invalid_argument("dense_defaults[{}].dtype() == {} != dense_types_[{}] == {}", position,
                           dtype_name(default_value.dtype()), position, dtype_name(dtype));
  }
  if (variable_length()) {
    if (default_value.elements() != 1) {
      throw invalid_argument(
          "dense_shape[{}] is a variable length shape: {}, therefore def_value[{}] must contain a single element (the "
          "padding element).  But its shape is: {}",
          position, shape.str(), position, default_value.shape().str());
    }
  } else if (default_value.elements() > 0 && !(default_value.shape() == shape)) {
    throw invalid_argument("def_value[{}].shape() == {} is not compatible with dense_shapes_[{}] == {}", position,
                           default_value.shape().str(), position, shape.str());
  }
}

// The features of some examples, found but not decoded, and how they become tensors.
class ExampleParser::Batch {
 public:
  Batch(const ExampleParser& parser, std::span<const std::string> serialized, const ParseMessages& messages,
        ThreadPool& pool)
      : parser_(parser),
        serialized_(serialized),
        messages_(messages),
        pool_(pool),
        single_(messages.single()),
        size_(static_cast<int64_t>(serialized.size())),
        features_(parser.index_.keys().size() * serialized.size()) {
    int64_t bytes = 1;
    for (const std::string& one : serialized) bytes += static_cast<int64_t>(one.size());
    grain_ = std::max<int64_t>(
        1, static_cast<int64_t>(static_cast<double>(size_) * kBytesOfBlock / static_cast<double>(bytes)));
  }

  ParsedExamples parse() {
    find();
    ParsedExamples parsed;
    int column = 0;
    for (const SparseFeature& feature : parser_.sparse_) parsed.sparse.push_back(sparse(feature, column++));
    for (const DenseFeature& feature : parser_.dense_) {
      parsed.dense.push_back(feature.variable_length() ? padded(feature, column) : fixed(feature, column));
      ++column;
    }
    if (failure_) throw Error(Code::InvalidArgument, failure_->message);
    return parsed;
  }

 private:
  struct Failure {
    int64_t example;
    std::string message;
  };
  // Of several failures that of the first example counts, and of those the first that was found.
  void fail(int64_t example, std::string message) {
    std::lock_guard lock(mutex_);
    if (!failure_ || example < failure_->example) failure_ = Failure{example, std::move(message)};
  }

  template <class Body>
  void for_examples(const Body& body) {
    pool_.parallel_for(size_, grain_, [&](int64_t begin, int64_t end) { body(begin, end); });
  }

  const WireFeature& feature(int column, int64_t example) const {
    return features_[static_cast<size_t>(column) * serialized_.size() + static_cast<size_t>(example)];
  }

  void find() {
    for_examples([&](int64_t begin, int64_t end) {
      FeatureIndex::Guesser guesser(parser_.index_);
      for (int64_t example = begin; example < end; ++example) {
        const std::string& message = serialized_[static_cast<size_t>(example)];
        guesser.begin_example();
        const bool good = visit_example(message, [&](std::string_view name, const WireFeature& found) {
          const int column = guesser.find(name);
          if (column < 0 || found.dtype == DType::Invalid) return;
          features_[static_cast<size_t>(column) * serialized_.size() + static_cast<size_t>(example)] = found;
        });
        if (!good) fail(example, messages_.damaged_example(message));
      }
    });
  }

  // How many values the feature has; tells when it is damaged.
  bool count_values(const WireFeature& found, const std::string& key, int64_t example, int64_t& count) {
    count = found.count();
    if (count < 0) fail(example, messages_.damaged_feature(key, example));
    return count >= 0;
  }

  Tensor fixed(const DenseFeature& feature_of, int column) {
    const int64_t wanted = feature_of.stride();
    Tensor out(feature_of.dtype, batched(feature_of.shape));
    for_examples([&](int64_t begin, int64_t end) {
      for (int64_t example = begin; example < end; ++example) {
        const WireFeature& found = feature(column, example);
        int64_t count = 0;
        if (found.dtype == DType::Invalid) {
          if (feature_of.default_value.elements() == 0 && wanted > 0) {
            fail(example, messages_.missing(feature_of.key, example, feature_of.dtype));
          } else {
            copy_default(feature_of.default_value, out, example * wanted);
          }
        } else if (found.dtype != feature_of.dtype) {
          fail(example, messages_.dense_type(feature_of.key, example, found.dtype, feature_of.dtype));
        } else if (count_values(found, feature_of.key, example, count)) {
          if (count != wanted) {
            fail(example, messages_.wrong_count(feature_of.key, example, feature_of.dtype, count, feature_of.shape));
          } else {
            found.copy_to(element(found.dtype, out.mutable_raw(), example * wanted));
          }
        }
      }
    });
    return out;
  }

  // How many values each example has for a feature of any length, and together.
  struct Counts {
    std::vector<int64_t> begin;  // where the values of an example begin; one more than there are examples
    int64_t longest = 0;
  };
  // `dense`: what the rows of a padded feature are; null for a sparse one.
  Counts count(const std::string& key, DType dtype, const DenseFeature* dense, int column) {
    Counts counts{std::vector<int64_t>(static_cast<size_t>(size_) + 1)};
    const int64_t stride = dense ? dense->stride() : 1;
    for (int64_t example = 0; example < size_; ++example) {
      const WireFeature& found = feature(column, example);
      int64_t values = 0;
      if (found.dtype != DType::Invalid && found.dtype != dtype) {
        fail(example, dense ? messages_.dense_type(key, example, found.dtype, dtype)
                            : messages_.sparse_type(key, example, found.dtype, dtype));
      } else if (!count_values(found, key, example, values)) {
        values = 0;
      } else if (values % stride != 0) {
        fail(example, messages_.ragged_rows(key, example, dtype, values, dense->shape));
      }
      counts.begin[static_cast<size_t>(example) + 1] = counts.begin[static_cast<size_t>(example)] + values;
      counts.longest = std::max(counts.longest, values);
    }
    return counts;
  }

  Tensor padded(const DenseFeature& feature_of, int column) {
    const Counts counts = count(feature_of.key, feature_of.dtype, &feature_of, column);
    Shape shape = feature_of.shape;
    shape.set_dim(0, counts.longest / feature_of.stride());
    if (failure_) return {};
    Tensor out(feature_of.dtype, batched(shape));
    for_examples([&](int64_t begin, int64_t end) {
      for (int64_t example = begin; example < end; ++example) {
        const int64_t at = example * counts.longest;
        const int64_t values =
            counts.begin[static_cast<size_t>(example) + 1] - counts.begin[static_cast<size_t>(example)];
        if (values > 0) feature(column, example).copy_to(element(feature_of.dtype, out.mutable_raw(), at));
        fill_with(feature_of.default_value, out, at + values, at + counts.longest);
      }
    });
    return out;
  }

  SparseParts sparse(const SparseFeature& feature_of, int column) {
    const Counts counts = count(feature_of.key, feature_of.dtype, nullptr, column);
    if (failure_) return {};
    const int64_t total = counts.begin.back(), rank = single_ ? 1 : 2;
    SparseParts parts{Tensor(DType::Int64, {total, rank}), Tensor(feature_of.dtype, {total}),
                      Tensor(DType::Int64, {rank})};
    auto* shape = parts.shape.mutable_data<int64_t>();
    if (!single_) *shape++ = size_;
    *shape = counts.longest;
    auto* indices = parts.indices.mutable_data<int64_t>();
    for_examples([&](int64_t begin, int64_t end) {
      for (int64_t example = begin; example < end; ++example) {
        const int64_t first = counts.begin[static_cast<size_t>(example)];
        const int64_t values = counts.begin[static_cast<size_t>(example) + 1] - first;
        if (values == 0) continue;
        feature(column, example).copy_to(element(feature_of.dtype, parts.values.mutable_raw(), first));
        int64_t* index = indices + first * rank;
        for (int64_t i = 0; i < values; ++i) {
          if (!single_) *index++ = example;
          *index++ = i;
        }
      }
    });
    return parts;
  }

  Shape batched(const Shape& shape) const {
    if (single_) return shape;
    Shape with{size_};
    for (int64_t size : shape.dims()) with.append(size);
    return with;
  }

  const ExampleParser& parser_;
  std::span<const std::string> serialized_;
  const ParseMessages& messages_;
  ThreadPool& pool_;
  const bool single_;
  const int64_t size_;
  int64_t grain_;
  std::vector<WireFeature> features_;  // by column, then by example
  std::mutex mutex_;                   // guards what follows
  std::optional<Failure> failure_;
};

ExampleParser::ExampleParser(std::vector<SparseFeature> sparse, std::vector<DenseFeature> dense)
    : sparse_(std::move(sparse)), dense_(std::move(dense)), index_(keys_of(sparse_, dense_)) {
  for (size_t i = 0; i < dense_.size(); ++i) dense_[i].check(static_cast<int>(i));
}

ParsedExamples ExampleParser::parse(std::span<const std::string> serialized, const ParseMessages& messages,
                                    ThreadPool& pool) const {
  return Batch(*this, serialized, messages, pool).parse();
}

}  // namespace weir::io
