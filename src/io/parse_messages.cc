#include "io/parse_messages.h"

#include <fmt/format.h>

namespace weir::io {
namespace {

std::string_view list_name(DType dtype) { return dtype == DType::String ? "bytes" : dtype_name(dtype); }

std::string_view found_name(DType dtype) {
  return dtype == DType::Invalid ? std::string_view("none") : dtype_name(dtype);
}

}  // namespace

std::string_view ParseMessages::name(int64_t example) const {
  if (static_cast<size_t>(example) < names_.size()) return names_[static_cast<size_t>(example)];
  return of_ == Of::SingleSequenceExample ? "" : "<unknown>";
}

std::string ParseMessages::place(const std::string& key, int64_t example) const {
  switch (of_) {
    case Of::Examples:
      return fmt::format("Name: {}, Key: {}, Index: {}.  ", name(example), key, example);
    case Of::SingleExample:
      return fmt::format("Key: {}.  ", key);
    case Of::SequenceExamples:
      return fmt::format("Error in context feature {} in example {}: ", key, name(example));
    case Of::SingleSequenceExample:
      return fmt::format("Name: {}, Context feature: {}.  ", name(example), key);
  }
  return {};
}

std::string ParseMessages::damaged_example(std::string_view message) const {
  // All of a message of megabytes would help nobody.
  return fmt::format("Could not parse example input, value: '{}'{}", message.substr(0, 200),
                     message.size() > 200 ? fmt::format(" and {} bytes more", message.size() - 200) : "");
}

std::string ParseMessages::damaged_feature(const std::string& key, int64_t example) const {
  return place(key, example) + "Can't parse serialized Example.";
}

std::string ParseMessages::dense_type(const std::string& key, int64_t example, DType found, DType wanted) const {
  if (of_ == Of::Examples || of_ == Of::SingleExample) {
    return place(key, example) + fmt::format("Data types don't match. Data type: {} but expected type: {}",
                                             found_name(found), dtype_name(wanted));
  }
  return sparse_type(key, example, found, wanted);
}

std::string ParseMessages::sparse_type(const std::string& key, int64_t example, DType found, DType wanted) const {
  return place(key, example) + fmt::format("Data types don't match. Expected type: {}, Actual type: {}",
                                           dtype_name(wanted), found_name(found));
}

std::string ParseMessages::wrong_count(const std::string& key, int64_t example, DType dtype, int64_t count,
                                       const Shape& shape) const {
  if (of_ == Of::SingleSequenceExample) {
    return fmt::format(
        "Name: {}, Key: {}, Index: 0.  Number of {} values != expected.  values size: {} but output "
        "shape: {}",
        name(example), key, list_name(dtype), count, shape.str());
  }
  return place(key, example) + fmt::format("Number of {} values != expected.  Values size: {} but output shape: {}",
                                           list_name(dtype), count, shape.str());
}

std::string ParseMessages::ragged_rows(const std::string& key, int64_t example, DType dtype, int64_t count,
                                       const Shape& shape) const {
  return place(key, example) +
         fmt::format("Number of {} values is not a multiple of stride length. Saw {} values but output shape is: {}",
                     list_name(dtype), count, shape.str());
}

std::string ParseMessages::missing(const std::string& key, int64_t example, DType dtype) const {
  switch (of_) {
    case Of::SingleExample:
      return fmt::format("Feature: {} (data type: {}) is required but could not be found.", key, dtype_name(dtype));
    case Of::SingleSequenceExample:
      return fmt::format("Name: {}, Context feature '{}' is required but could not be found.", name(example), key);
    default:
      return fmt::format("Name: {}, {}: {} (data type: {}) is required but could not be found.", name(example),
                         of_ == Of::Examples ? "Feature" : "Context feature", key, dtype_name(dtype));
  }
}

std::string ParseMessages::damaged_list(const std::string& key, int64_t example) const {
  return fmt::format("Name: {}, Feature list: {}.  Can't parse serialized SequenceExample.", name(example), key);
}

std::string ParseMessages::list_type(const std::string& key, int64_t example, int64_t step, DType found,
                                     DType wanted) const {
  return fmt::format(
      "{}Name: {}, Feature list: {}, Index: {}.  Data types don't match. Expected type: {}, Actual "
      "type: {}",
      single() ? std::string() : fmt::format("Error in sequence feature {} in example {}: ", key, name(example)),
      name(example), key, step, dtype_name(wanted), found_name(found));
}

std::string ParseMessages::list_count(const std::string& key, int64_t example, int64_t step, DType dtype, int64_t count,
                                      const Shape& shape) const {
  return fmt::format(
      "{}Name: {}, Key: {}, Index: {}.  Number of {} values != expected.  values size: {} but output "
      "shape: {}",
      single() ? std::string()
               : fmt::format("Unexpected number of elements in feature {}, example {}: ", key, name(example)),
      name(example), key, step, list_name(dtype), count, shape.str());
}

std::string ParseMessages::missing_list(const std::string& key, int64_t example) const {
  return fmt::format(
      "{}Name: {}, Feature list '{}' is required but could not be found.  Did you mean to include it in "
      "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
      single() ? std::string() : fmt::format("Missing feature {} in example {}: ", key, name(example)), name(example),
      key);
}

}  // namespace weir::io
