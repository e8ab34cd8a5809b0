#include <algorithm>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/string/utf8.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

// pos and len have one shape, which broadcasts with that of the strings.
void infer(InferContext& c) {
  if (!c.input(1).compatible(c.input(2))) {
    throw invalid_argument("pos and len shapes must match: {} vs. {}", c.input(1).str(), c.input(2).str());
  }
  c.set_output(0, Shape::broadcast(c.input(0), c.input(1).merged(c.input(2))));
}

// Where element `i` of the result is found in an operand that was broadcast to it.
int64_t source(int64_t i, const Shape& result, const Shape& operand) {
  int64_t at = 0, stride = 1;
  for (int d = 1; d <= operand.rank(); ++d) {
    const int64_t size = operand[-d];
    if (size != 1) at += i % result[-d] * stride;
    i /= result[-d];
    stride *= size;
  }
  return at;
}

// The byte where the character begins that is `count` characters behind `from` (before it, when negative); npos when
// there are not so many.
size_t moved(std::string_view text, size_t from, int64_t count) {
  for (; count > 0; --count) {
    if (from == text.size()) return std::string_view::npos;
    while (++from < text.size() && !begins_character(text[from])) {
    }
  }
  for (; count < 0; ++count) {
    if (from == 0) return std::string_view::npos;
    while (--from > 0 && !begins_character(text[from])) {
    }
  }
  return from;
}

std::string by_bytes(const std::string& text, size_t begin, int64_t len) {
  return text.substr(begin, static_cast<size_t>(len));
}
std::string by_characters(const std::string& text, size_t begin, int64_t len) {
  return text.substr(begin, moved(text, begin, std::min(len, static_cast<int64_t>(text.size()))) - begin);
}

template <bool kBytes>
void cpu(KernelContext& c) {
  for (int64_t i = 0; i < c.output_elements(); ++i) {
    const std::string& text = c.input<std::string>(0)[source(i, c.output_shape(), c.shape(0))];
    const int64_t at = source(i, c.output_shape(), c.shape(1));
    const int64_t pos = int_at(c, 1, at), len = std::max<int64_t>(int_at(c, 2, at), 0);
    const auto size = static_cast<int64_t>(text.size());
    size_t begin = std::string::npos;
    if (pos >= -size && pos <= size) {
      begin = kBytes ? static_cast<size_t>(pos < 0 ? pos + size : pos) : moved(text, pos < 0 ? text.size() : 0, pos);
    }
    if (begin == std::string::npos) {
      throw invalid_argument("pos {} out of range for string b'{}' at index {}", pos, text, i);
    }
    c.output<std::string>()[i] = kBytes ? by_bytes(text, begin, len) : by_characters(text, begin, len);
  }
}

ComputeFn select(const NodeView& node) { return node.attr<std::string>("unit") == "BYTE" ? cpu<true> : cpu<false>; }

}  // namespace

OpDef substr_op() {
  return {.name = "Substr",
          .inputs = "input:string; pos:T; len:T",
          .outputs = "output:string",
          .attrs = "T:type{int32,int64}; unit:string{BYTE,UTF8_CHAR}='BYTE'",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output substr(const In& input, const In& pos, const In& len, std::string_view name) {
  return NodeBuilder("Substr", name).input(input).input(pos).input(len).output();
}

}  // namespace weir
