#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/types.h"

// Sets of elements as the set operations see them: by the coordinates before the last one.
namespace weir::ops {

using SetTypes = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, std::string>;
inline constexpr std::string_view kSetAttrs =
    "set_operation:string; validate_indices:bool=True; T:type{int8,int16,int32,int64,uint8,uint16,string}";
inline constexpr std::string_view kSetOutputs = "result_indices:int64; result_values:T; result_shape:int64";

enum class SetOperation { AMinusB, BMinusA, Intersection, Union };
struct SetState {
  SetOperation operation;
  bool validate_indices;
};
// Throws InvalidArgument for a name that is none.
SetOperation set_operation_named(const std::string& name);
SetState prepare_set_operation(PrepareContext& c);

// Result indices [n, rank], values [n] and shape [rank], where the rank is what is known of it.
void set_result_shapes(InferContext& c, int64_t rank);

using SetKey = std::vector<int64_t>;  // coordinates without the last
template <class T>
using SetGroups = std::map<SetKey, std::set<T>>;

// The sets of a dense input.
template <class T>
SetGroups<T> dense_groups(const KernelContext& c, int input) {
  const Shape& shape = c.shape(input);
  SetGroups<T> groups;
  const int rank = shape.rank();
  const int64_t length = shape[-1];
  SetKey key(static_cast<size_t>(rank - 1), 0);
  const int64_t count = length == 0 ? 0 : shape.elements() / length;
  for (int64_t i = 0; i < count; ++i) {
    const T* row = c.input<T>(input) + i * length;
    groups[key] = std::set<T>(row, row + length);
    for (size_t d = key.size(); d-- > 0;) {
      if (++key[d] < shape.dims()[d]) break;
      key[d] = 0;
    }
  }
  return groups;
}

// The coordinates and the shape of a sparse input whose indices, values and shape begin at `first`. Throws
// InvalidArgument for coordinates out of range, and for disorder if asked to.
void check_sparse(const KernelContext& c, int first, bool validate);

template <class T>
SetGroups<T> sparse_groups(const KernelContext& c, int first, bool validate) {
  check_sparse(c, first, validate);
  SetGroups<T> groups;
  const int64_t rank = c.shape(first)[1];
  for (int64_t i = 0; i < c.shape(first)[0]; ++i) {
    const int64_t* at = c.input<int64_t>(first) + i * rank;
    groups[SetKey(at, at + rank - 1)].insert(c.input<T>(first + 1)[i]);
  }
  return groups;
}

// The dimensions before the last of a dense input, and of a sparse one.
inline SetKey dense_group_shape(const KernelContext& c, int input) {
  const auto dims = c.shape(input).dims();
  return SetKey(dims.begin(), dims.end() - 1);
}
inline SetKey sparse_group_shape(const KernelContext& c, int first) {
  const auto* dims = c.input<int64_t>(first + 2);
  return SetKey(dims, dims + c.elements(first + 2) - 1);
}

template <class T>
std::set<T> combined(const std::set<T>& a, const std::set<T>& b, SetOperation operation) {
  std::set<T> result;
  switch (operation) {
    case SetOperation::AMinusB:
    case SetOperation::BMinusA: {
      const bool swapped = operation == SetOperation::BMinusA;
      for (const T& x : swapped ? b : a) {
        if (!(swapped ? a : b).contains(x)) result.insert(x);
      }
      break;
    }
    case SetOperation::Intersection:
      for (const T& x : a) {
        if (b.contains(x)) result.insert(x);
      }
      break;
    case SetOperation::Union:
      result = a;
      result.insert(b.begin(), b.end());
      break;
  }
  return result;
}

// Combines set by set and gives the outputs. Throws InvalidArgument when the sets stand in different shapes.
template <class T>
void combine_groups(KernelContext& c, const SetGroups<T>& a, const SetGroups<T>& b, const SetKey& a_shape,
                    const SetKey& b_shape) {
  if (a_shape != b_shape) {
    throw invalid_argument("Mismatched group shapes: {} vs. {}", Shape(a_shape).str(), Shape(b_shape).str());
  }
  const SetOperation operation = c.state<SetState>().operation;
  SetGroups<T> result;
  const std::set<T> none;
  auto of = [&](const SetGroups<T>& groups, const SetKey& key) -> const std::set<T>& {
    const auto found = groups.find(key);
    return found == groups.end() ? none : found->second;
  };
  int64_t count = 0;
  size_t longest = 0;
  auto add = [&](const SetKey& key) {
    auto [place, is_new] = result.try_emplace(key);
    if (!is_new) return;
    place->second = combined(of(a, key), of(b, key), operation);
    count += static_cast<int64_t>(place->second.size());
    longest = std::max(longest, place->second.size());
  };
  for (const auto& [key, elements] : a) add(key);
  for (const auto& [key, elements] : b) add(key);
  const auto rank = static_cast<int64_t>(a_shape.size()) + 1;
  Tensor indices(DType::Int64, {count, rank}), values(dtype_of<T>, {count}), shape(DType::Int64, {rank});
  auto* index = indices.mutable_data<int64_t>();
  T* value = values.mutable_data<T>();
  for (const auto& [key, elements] : result) {
    int64_t i = 0;
    for (const T& element : elements) {
      index = std::copy(key.begin(), key.end(), index);
      *index++ = i++;
      *value++ = element;
    }
  }
  auto* dims = std::copy(a_shape.begin(), a_shape.end(), shape.mutable_data<int64_t>());
  *dims = static_cast<int64_t>(longest);
  c.set_output(0, std::move(indices));
  c.set_output(1, std::move(values));
  c.set_output(2, std::move(shape));
}

}  // namespace weir::ops
