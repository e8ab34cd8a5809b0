#include "io/parse_sequence_example.h"

#include <algorithm>

#include "base/errors.h"
#include "io/feature_wire.h"

namespace weir::io {
namespace {

std::vector<std::string> keys_of(const std::vector<SparseFeature>& sparse, const std::vector<DenseList>& dense) {
  std::vector<std::string> keys;
  for (const SparseFeature& list : sparse) keys.push_back(list.key);
  for (const DenseList& list : dense) keys.push_back(list.key);
  return keys;
}

[[noreturn]] void fail(std::string message) { throw Error(Code::InvalidArgument, std::move(message)); }

char* element(Tensor& tensor, int64_t at) {
  return static_cast<char*>(tensor.mutable_raw()) + static_cast<size_t>(at) * dtype_size(tensor.dtype());
}

}  // namespace

// The steps of all examples behind each other.
struct SequenceParser::Steps {
  std::vector<WireFeature> features;
  std::vector<int64_t> begin = {0};  // where those of an example begin; one more than there are examples
  int64_t longest = 0;

  int64_t examples() const { return static_cast<int64_t>(begin.size()) - 1; }
  int64_t count(int64_t example) const { return begin[static_cast<size_t>(example) + 1] - first(example); }
  int64_t first(int64_t example) const { return begin[static_cast<size_t>(example)]; }
  const WireFeature& at(int64_t example, int64_t step) const {
    return features[static_cast<size_t>(first(example) + step)];
  }
};

SequenceParser::SequenceParser(std::vector<SparseFeature> sparse, std::vector<DenseList> dense)
    : sparse_(std::move(sparse)), dense_(std::move(dense)), index_(keys_of(sparse_, dense_)) {
  for (const DenseList& list : dense_) {
    if (!list.shape.is_known()) {
      throw invalid_argument("the shape {} of the feature list '{}' is not fully known", list.shape.str(), list.key);
    }
  }
}

ParsedSequences SequenceParser::parse(std::span<const std::string> serialized, const ParseMessages& messages) const {
  // By column and example; no data: the example has no such list.
  std::vector<std::vector<std::string_view>> lists(index_.keys().size(),
                                                   std::vector<std::string_view>(serialized.size()));
  for (size_t example = 0; example < serialized.size(); ++example) {
    const bool good = visit_sequence_example(
        serialized[example], [](std::string_view, const WireFeature&) {},
        [&](std::string_view name, std::string_view list) {
          const int column = index_.find(name);
          // An empty list is not a missing one.
          if (column >= 0) lists[static_cast<size_t>(column)][example] = list.data() ? list : std::string_view("", 0);
        });
    if (!good) fail(messages.damaged_example(serialized[example]));
  }
  ParsedSequences parsed;
  size_t column = 0;
  for (const SparseFeature& list : sparse_) {
    parsed.sparse.push_back(sparse(list, steps(lists[column++], list.key, messages), messages));
  }
  for (const DenseList& list : dense_) {
    for (size_t example = 0; example < serialized.size(); ++example) {
      if (!lists[column][example].data() && !list.may_be_missing) {
        fail(messages.missing_list(list.key, static_cast<int64_t>(example)));
      }
    }
    const Steps found = steps(lists[column++], list.key, messages);
    parsed.dense.push_back(dense(list, found, messages));
    Tensor lengths(DType::Int64, {found.examples()});
    for (int64_t i = 0; i < found.examples(); ++i) lengths.mutable_data<int64_t>()[i] = found.count(i);
    parsed.lengths.push_back(std::move(lengths));
  }
  return parsed;
}

SequenceParser::Steps SequenceParser::steps(const std::vector<std::string_view>& lists, const std::string& key,
                                            const ParseMessages& messages) const {
  Steps found;
  for (size_t example = 0; example < lists.size(); ++example) {
    if (!visit_feature_list(lists[example], [&](const WireFeature& feature) { found.features.push_back(feature); })) {
      fail(messages.damaged_list(key, static_cast<int64_t>(example)));
    }
    found.begin.push_back(static_cast<int64_t>(found.features.size()));
    found.longest = std::max(found.longest, found.begin.back() - found.begin[example]);
  }
  return found;
}

Tensor SequenceParser::dense(const DenseList& list, const Steps& steps, const ParseMessages& messages) const {
  Shape shape;
  if (!messages.single()) shape.append(steps.examples());
  shape.append(steps.longest);
  for (int64_t size : list.shape.dims()) shape.append(size);
  const int64_t stride = list.shape.elements();
  for (int64_t example = 0; example < steps.examples(); ++example) {
    for (int64_t step = 0; step < steps.count(example); ++step) {
      const WireFeature& feature = steps.at(example, step);
      if (feature.dtype != list.dtype) {
        fail(messages.list_type(list.key, example, step, feature.dtype, list.dtype));
      }
      const int64_t count = feature.count();
      if (count < 0) fail(messages.damaged_list(list.key, example));
      if (count != stride) fail(messages.list_count(list.key, example, step, list.dtype, count, list.shape));
    }
  }
  Tensor out = Tensor::zeros(list.dtype, shape);
  for (int64_t example = 0; example < steps.examples(); ++example) {
    for (int64_t step = 0; step < steps.count(example); ++step) {
      steps.at(example, step).copy_to(element(out, (example * steps.longest + step) * stride));
    }
  }
  return out;
}

SparseParts SequenceParser::sparse(const SparseFeature& list, const Steps& steps, const ParseMessages& messages) const {
  int64_t total = 0, longest = 0;
  std::vector<int64_t> counts;
  for (int64_t example = 0; example < steps.examples(); ++example) {
    for (int64_t step = 0; step < steps.count(example); ++step) {
      const WireFeature& feature = steps.at(example, step);
      if (feature.dtype != list.dtype && feature.dtype != DType::Invalid) {
        fail(messages.list_type(list.key, example, step, feature.dtype, list.dtype));
      }
      const int64_t count = feature.count();
      if (count < 0) fail(messages.damaged_list(list.key, example));
      counts.push_back(count);
      total += count;
      longest = std::max(longest, count);
    }
  }
  const int64_t rank = messages.single() ? 2 : 3;
  SparseParts parts{Tensor(DType::Int64, {total, rank}), Tensor(list.dtype, {total}), Tensor(DType::Int64, {rank})};
  auto* shape = parts.shape.mutable_data<int64_t>();
  if (!messages.single()) *shape++ = steps.examples();
  *shape++ = steps.longest;
  *shape = longest;
  auto* index = parts.indices.mutable_data<int64_t>();
  int64_t at = 0;
  size_t position = 0;
  for (int64_t example = 0; example < steps.examples(); ++example) {
    for (int64_t step = 0; step < steps.count(example); ++step, ++position) {
      if (counts[position] == 0) continue;
      steps.features[position].copy_to(element(parts.values, at));
      for (int64_t i = 0; i < counts[position]; ++i) {
        if (!messages.single()) *index++ = example;
        *index++ = step;
        *index++ = i;
      }
      at += counts[position];
    }
  }
  return parts;
}

}  // namespace weir::io
