#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "weir/weir.h"

// Weights and inputs that a program in any language can make again, for values that were computed elsewhere.
namespace weir::testing {

using Values = std::vector<std::vector<float>>;

inline Tensor sines(const Shape& shape, int64_t first = 0, float scale = 1) {
  Tensor t(float32, shape);
  for (int64_t i = 0; i < t.elements(); ++i) {
    t.mutable_data<float>()[i] = std::sin(static_cast<float>(i + first)) * scale;
  }
  return t;
}

// Gives each variable sines that begin with the length of its name.
inline void fill_variables(Graph& g, Session& session) {
  for (const Variable& variable : g.global_variables()) {
    const auto length = static_cast<int64_t>(variable.name().size()) + 2;  // ":0" counts in Python
    session.run(assign(variable, sines(variable.shape(), length, 0.5f)).op());
  }
}

// Expects these values, which are given to three places.
inline void expect_values(const std::vector<Tensor>& found, const Values& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(static_cast<size_t>(found[i].elements()), expected[i].size()) << i;
    for (size_t k = 0; k < expected[i].size(); ++k) {
      EXPECT_NEAR(found[i].data<float>()[k], expected[i][k], 6e-4f) << i << ' ' << k;
    }
  }
}

// The outputs of a sequence, and its states.
inline std::vector<Output> all_of(const rnn::Sequence& sequence) {
  std::vector<Output> outputs = {sequence.outputs};
  outputs.insert(outputs.end(), sequence.state.begin(), sequence.state.end());
  return outputs;
}

}  // namespace weir::testing
