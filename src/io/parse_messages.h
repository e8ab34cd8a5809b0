#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "weir/dtype.h"
#include "weir/shape.h"

namespace weir::io {

// What is said of features that cannot be parsed, in TensorFlow's words, which differ with the operation.
class ParseMessages {
 public:
  enum class Of { Examples, SingleExample, SequenceExamples, SingleSequenceExample };

  // `names` has one for each example, or none.
  ParseMessages(Of of, std::span<const std::string> names) : of_(of), names_(names) {}

  bool single() const { return of_ == Of::SingleExample || of_ == Of::SingleSequenceExample; }

  std::string damaged_example(std::string_view message) const;
  std::string damaged_feature(const std::string& key, int64_t example) const;
  std::string dense_type(const std::string& key, int64_t example, DType found, DType wanted) const;
  std::string sparse_type(const std::string& key, int64_t example, DType found, DType wanted) const;
  std::string wrong_count(const std::string& key, int64_t example, DType dtype, int64_t count,
                          const Shape& shape) const;
  std::string ragged_rows(const std::string& key, int64_t example, DType dtype, int64_t count,
                          const Shape& shape) const;
  std::string missing(const std::string& key, int64_t example, DType dtype) const;

  // Of the lists of a sequence example.
  std::string damaged_list(const std::string& key, int64_t example) const;
  std::string list_type(const std::string& key, int64_t example, int64_t step, DType found, DType wanted) const;
  std::string list_count(const std::string& key, int64_t example, int64_t step, DType dtype, int64_t count,
                         const Shape& shape) const;
  std::string missing_list(const std::string& key, int64_t example) const;

 private:
  std::string_view name(int64_t example) const;
  std::string place(const std::string& key, int64_t example) const;

  Of of_;
  std::span<const std::string> names_;
};

}  // namespace weir::io
