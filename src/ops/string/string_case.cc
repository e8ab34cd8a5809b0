#include <locale.h>
#include <wctype.h>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/string/utf8.h"
#include "ops/types.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

// The C library's tables of all characters, whatever the program's locale.
locale_t unicode_locale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (!locale) throw error(Code::Unimplemented, "the system has no locale C.UTF-8");
  return locale;
}

struct Lower {
  static char byte(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
  static wint_t character(wint_t c) { return towlower_l(c, unicode_locale()); }
};
struct Upper {
  static char byte(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
  static wint_t character(wint_t c) { return towupper_l(c, unicode_locale()); }
};

void infer(InferContext& c) {
  const std::string& encoding = c.attr<std::string>("encoding");
  if (!encoding.empty() && encoding != "utf-8") {
    throw invalid_argument("only utf-8 or '' (no encoding) is supported, received {}", encoding);
  }
  infer::unchanged(c);
}

template <class Case>
void bytes(KernelContext& c) {
  for (int64_t i = 0; i < c.elements(0); ++i) {
    std::string text = c.input<std::string>(0)[i];
    for (char& letter : text) letter = Case::byte(letter);
    c.output<std::string>()[i] = std::move(text);
  }
}

template <class Case>
void characters(KernelContext& c) {
  for (int64_t i = 0; i < c.elements(0); ++i) {
    const std::string& text = c.input<std::string>(0)[i];
    std::string changed;
    for (size_t at = 0; at < text.size();) {
      const int32_t character = next_utf8(text, at);
      append_utf8(character < 0 ? 0xfffd : static_cast<int32_t>(Case::character(static_cast<wint_t>(character))),
                  changed);
    }
    c.output<std::string>()[i] = std::move(changed);
  }
}

template <class Case>
ComputeFn select(const NodeView& node) {
  return node.attr<std::string>("encoding").empty() ? bytes<Case> : characters<Case>;
}

OpDef row_of(std::string_view name, Kernel cpu) {
  return {.name = name,
          .inputs = "input:string",
          .outputs = "output:string",
          .attrs = "encoding:string=''",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = cpu,
          .host_only = true};
}

}  // namespace

OpDef string_lower_op() { return row_of("StringLower", {.select = select<Lower>}); }
OpDef string_upper_op() { return row_of("StringUpper", {.select = select<Upper>}); }

}  // namespace weir::ops

namespace weir {

Output string_lower(const In& input, const std::string& encoding, std::string_view name) {
  return NodeBuilder("StringLower", name).input(input).attr("encoding", encoding).output();
}
Output string_upper(const In& input, const std::string& encoding, std::string_view name) {
  return NodeBuilder("StringUpper", name).input(input).attr("encoding", encoding).output();
}

}  // namespace weir
