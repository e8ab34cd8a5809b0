// Parses arbitrary bytes as examples and as sequence examples, by the parsers of the wire format. Nothing may crash,
// leak, or end in any exception but weir::Error with InvalidArgument. What they take must agree with protobuf's
// reading.

#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "io/parse_example.h"
#include "io/parse_sequence_example.h"
#include "weir/error.h"
#include "weir/records.h"

namespace {

using namespace weir;
using namespace weir::io;

template <class T>
bool same(std::span<const T> a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  if constexpr (std::is_same_v<T, float>) {
    return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
  } else {
    return std::equal(a.begin(), a.end(), b.begin());
  }
}

// Both readings of a feature, where protobuf has one of that kind.
template <class T>
void compare(const Example& example, const std::string& name, const Tensor& values) {
  auto found = example.features().find(name);
  if (found == example.features().end()) return;
  if (const auto* list = std::get_if<std::vector<T>>(&found->second)) {
    if (!same(values.data<T>(), *list)) std::abort();
  }
}

// Messages that protobuf would merge (a feature given twice) are read differently on purpose: the last one counts.
bool comparable(std::string_view bytes) {
  const size_t first = bytes.find_first_of("bfi");
  return first == std::string_view::npos || bytes.find_first_of("bfi", first + 1) == std::string_view::npos;
}

void parse_examples(const std::string& bytes, ThreadPool& pool) {
  const ExampleParser sparse({{"b", DType::String}, {"f", DType::Float32}, {"i", DType::Int64}}, {});
  for (auto of : {ParseMessages::Of::Examples, ParseMessages::Of::SingleExample}) {
    try {
      const ParsedExamples parsed = sparse.parse({&bytes, 1}, {of, {}}, pool);
      if (!comparable(bytes)) continue;
      Example example;
      try {
        example = Example::parse(bytes);
      } catch (const Error&) {
        continue;  // protobuf also checks that names are UTF-8
      }
      compare<std::string>(example, "b", parsed.sparse[0].values);
      compare<float>(example, "f", parsed.sparse[1].values);
      compare<int64_t>(example, "i", parsed.sparse[2].values);
    } catch (const Error& e) {
      if (e.code() != Code::InvalidArgument) std::abort();
    }
  }
  const ExampleParser dense({}, {{"b", DType::String, Shape{}, Tensor("")},
                                 {"f", DType::Float32, Shape{2}, Tensor(DType::Float32, Shape{0})},
                                 {"i", DType::Int64, Shape{kUnknown, 2}, Tensor(int64_t{0})}});
  const std::string batch[] = {bytes, bytes};
  try {
    dense.parse(batch, {ParseMessages::Of::Examples, {}}, pool);
  } catch (const Error& e) {
    if (e.code() != Code::InvalidArgument) std::abort();
  }
}

void parse_sequences(const std::string& bytes) {
  const SequenceParser parser({{"b", DType::String}, {"f", DType::Float32}}, {{"i", DType::Int64, Shape{2}, true}});
  const std::string batch[] = {bytes, ""};
  for (auto of : {ParseMessages::Of::SequenceExamples, ParseMessages::Of::SingleSequenceExample}) {
    try {
      parser.parse(of == ParseMessages::Of::SequenceExamples ? std::span(batch) : std::span(batch, 1), {of, {}});
    } catch (const Error& e) {
      if (e.code() != Code::InvalidArgument) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static ThreadPool pool(1);
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  parse_examples(bytes, pool);
  parse_sequences(bytes);
  return 0;
}
