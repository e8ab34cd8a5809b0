#include <iconv.h>

#include <cstring>
#include <functional>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/string/utf8.h"

// Characters of encoded text. UTF-8, UTF-16 and UTF-32 are read here; any other encoding goes through the C library's
// iconv, a character at a time, so that bytes which are none are seen one by one.
namespace weir::ops {
namespace {

// Calls visit(character, or -1 where bytes are none; the first byte).
using Visit = std::function<void(int32_t, size_t)>;

void for_each_utf8(std::string_view text, const Visit& visit) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const int32_t character = next_utf8(text, at);
    visit(character, begin);
  }
}

uint32_t big_endian(std::string_view text, size_t at, size_t bytes) {
  uint32_t word = 0;
  for (size_t i = 0; i < bytes; ++i) word = word << 8 | static_cast<unsigned char>(text[at + i]);
  return word;
}

void for_each_utf16(std::string_view text, const Visit& visit) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (text.size() - at < 2) return visit(-1, begin);
    const uint32_t first = big_endian(text, at, 2);
    at += 2;
    if (first < 0xd800 || first > 0xdfff) {
      visit(static_cast<int32_t>(first), begin);
      continue;
    }
    const uint32_t second = text.size() - at >= 2 ? big_endian(text, at, 2) : 0;
    if (first > 0xdbff || second < 0xdc00 || second > 0xdfff) {
      visit(-1, begin);
      continue;
    }
    at += 2;
    visit(static_cast<int32_t>(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)), begin);
  }
}

void for_each_utf32(std::string_view text, const Visit& visit) {
  for (size_t at = 0; at < text.size(); at += 4) {
    if (text.size() - at < 4) return visit(-1, at);
    const uint32_t character = big_endian(text, at, 4);
    visit(is_character(character) ? static_cast<int32_t>(character) : -1, at);
  }
}

class Converter {
 public:
  explicit Converter(const std::string& encoding) : handle_(iconv_open("UTF-32BE", encoding.c_str())) {}
  ~Converter() {
    if (valid()) iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  bool valid() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  void for_each(std::string_view text, const Visit& visit) {
    iconv(handle_, nullptr, nullptr, nullptr, nullptr);
    char* from = const_cast<char*>(text.data());
    size_t left = text.size();
    while (left > 0) {
      const size_t begin = text.size() - left;
      char out[4];
      char* to = out;
      size_t room = sizeof(out);
      const size_t before = left;
      iconv(handle_, &from, &left, &to, &room);  // stops for want of room behind the first character
      if (room == 0) {
        visit(static_cast<int32_t>(big_endian({out, 4}, 0, 4)), begin);
      } else if (left == before) {
        visit(-1, begin);
        ++from;
        --left;
      }
    }
  }

 private:
  iconv_t handle_;
};

bool is_encoding(const std::string& name, std::initializer_list<std::string_view> spellings) {
  return std::find(spellings.begin(), spellings.end(), name) != spellings.end();
}

void for_each_character(const std::string& encoding, std::string_view text, const Visit& visit) {
  if (is_encoding(encoding, {"UTF-8", "utf-8", "UTF8"})) return for_each_utf8(text, visit);
  if (is_encoding(encoding, {"UTF-16-BE", "UTF-16BE", "utf-16-be"})) return for_each_utf16(text, visit);
  if (is_encoding(encoding, {"UTF-32-BE", "UTF-32BE", "utf-32-be"})) return for_each_utf32(text, visit);
  Converter converter(encoding);
  if (!converter.valid()) throw invalid_argument("Could not create converter for input encoding: {}", encoding);
  converter.for_each(text, visit);
}

void append_encoded(int32_t character, const std::string& encoding, std::string& text) {
  const auto c = static_cast<uint32_t>(character);
  const auto put = [&](uint32_t word, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(word >> (8 * i)));
  };
  if (encoding == "UTF-8") {
    append_utf8(character, text);
  } else if (encoding == "UTF-32-BE") {
    put(c, 4);
  } else if (c < 0x10000) {
    put(c, 2);
  } else {
    put(0xd800 + ((c - 0x10000) >> 10), 2);
    put(0xdc00 + ((c - 0x10000) & 0x3ff), 2);
  }
}

// What becomes of bytes that are no character, and of control characters.
struct Errors {
  bool strict, ignore, controls;
  int32_t replacement;

  // Gives nothing for a character that is left out.
  std::optional<int32_t> kept(int32_t character) const {
    const bool control =
        controls &&
        ((character >= 0 && character <= 0x1f && character != '\t' && character != '\n' && character != '\r') ||
         character == 0x7f);
    if (character >= 0 && !control) return character;
    if (character < 0 && strict) throw invalid_argument("Invalid formatting on input string");
    if (ignore) return {};
    return replacement;
  }
};

Errors errors_of(const AttrMap& attrs, bool has_controls) {
  const std::string& how = attrs.get<std::string>("errors");
  const int64_t replacement = attrs.get<int64_t>("replacement_char");
  if (!is_character(replacement)) {
    throw invalid_argument("replacement_char out of unicode codepoint range; got {}", replacement);
  }
  return {how == "strict", how == "ignore", has_controls && attrs.get<bool>("replace_control_characters"),
          static_cast<int32_t>(replacement)};
}

void infer_transcode(InferContext& c) {
  errors_of(c.attrs(), true);
  infer::unchanged(c);
}

void transcode(KernelContext& c) {
  const Errors errors = errors_of(c.node().attrs(), true);
  const std::string &from = c.node().attr<std::string>("input_encoding"),
                    &to = c.node().attr<std::string>("output_encoding");
  for (int64_t i = 0; i < c.elements(0); ++i) {
    std::string text;
    for_each_character(from, c.input<std::string>(0)[i], [&](int32_t character, size_t) {
      if (const auto kept = errors.kept(character)) append_encoded(*kept, to, text);
    });
    c.output<std::string>()[i] = std::move(text);
  }
}

void infer_decode(InferContext& c) {
  errors_of(c.attrs(), true);
  const Shape& input = c.input(0);
  const int64_t count = input.has_rank() ? input.elements() : kUnknown;
  c.set_output(0, Shape{count == kUnknown ? kUnknown : checked_add(count, 1)});
  for (int i = 1; i < c.outputs(); ++i) c.set_output(i, Shape{kUnknown});
}

void decode(KernelContext& c) {
  const Errors errors = errors_of(c.node().attrs(), true);
  const std::string& encoding = c.node().attr<std::string>("input_encoding");
  std::vector<int32_t> characters;
  std::vector<int64_t> starts;
  const bool wide = c.node().type("Tsplits") == DType::Int64;
  for (int64_t i = 0; i <= c.elements(0); ++i) {
    if (wide) {
      c.output<int64_t>(0)[i] = static_cast<int64_t>(characters.size());
    } else {
      c.output<int32_t>(0)[i] = static_cast<int32_t>(characters.size());
    }
    if (i == c.elements(0)) break;
    for_each_character(encoding, c.input<std::string>(0)[i], [&](int32_t character, size_t begin) {
      const auto kept = errors.kept(character);
      if (!kept) return;
      characters.push_back(*kept);
      starts.push_back(static_cast<int64_t>(begin));
    });
  }
  if (c.outputs() > 2) c.set_output(2, Tensor(starts));
  c.set_output(1, Tensor(characters));
}

void infer_encode(InferContext& c) {
  errors_of(c.attrs(), false);
  c.require_rank(0, 1);
  c.require_rank(1, 1);
  const int64_t splits = c.input(1).has_rank() ? c.input(1)[0] : kUnknown;
  if (splits == 0) throw invalid_argument("input_splits must have one element at least");
  c.set_output(0, Shape{splits == kUnknown ? kUnknown : splits - 1});
}

void encode(KernelContext& c) {
  const Errors errors = errors_of(c.node().attrs(), false);
  const std::string& to = c.node().attr<std::string>("output_encoding");
  const int64_t count = c.elements(0), rows = c.elements(1) - 1;
  if (int_at(c, 1, 0) != 0) throw invalid_argument("First value in input_splits must be zero.");
  if (int_at(c, 1, rows) != count)
    throw invalid_argument("Last value in input_splits must be equal to length of input_tensor.");
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t begin = int_at(c, 1, row), end = int_at(c, 1, row + 1);
    if (begin < 0 || end < begin || end > count) {
      throw invalid_argument("Values in input_splits must be equal or in ascending order.");
    }
    std::string text;
    for (int64_t i = begin; i < end; ++i) {
      const int32_t character = c.input<int32_t>(0)[i];
      if (!is_character(character) && errors.strict) {
        throw invalid_argument("Code point is out of range for Unicode, or a noncharacter.");
      }
      if (const auto kept = errors.kept(is_character(character) ? character : -1)) append_encoded(*kept, to, text);
    }
    c.output<std::string>()[row] = std::move(text);
  }
}

constexpr std::string_view kDecodeAttrs =
    "input_encoding:string; errors:string{strict,replace,ignore}='replace'; replacement_char:int=65533; "
    "replace_control_characters:bool=False; Tsplits:type{int32,int64}=int64";

}  // namespace

OpDef unicode_transcode_op() {
  return {.name = "UnicodeTranscode",
          .inputs = "input:string",
          .outputs = "output:string",
          .attrs =
              "input_encoding:string; output_encoding:string{UTF-8,UTF-16-BE,UTF-32-BE}; "
              "errors:string{strict,replace,ignore}='replace'; replacement_char:int=65533; "
              "replace_control_characters:bool=False",
          .infer = infer_transcode,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<transcode>},
          .host_only = true};
}

OpDef unicode_decode_op() {
  return {.name = "UnicodeDecode",
          .inputs = "input:string",
          .outputs = "row_splits:Tsplits; char_values:int32",
          .attrs = kDecodeAttrs,
          .infer = infer_decode,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<decode>},
          .host_only = true};
}

OpDef unicode_decode_with_offsets_op() {
  return {.name = "UnicodeDecodeWithOffsets",
          .inputs = "input:string",
          .outputs = "row_splits:Tsplits; char_values:int32; char_to_byte_starts:int64",
          .attrs = kDecodeAttrs,
          .infer = infer_decode,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<decode>},
          .host_only = true};
}

OpDef unicode_encode_op() {
  return {.name = "UnicodeEncode",
          .inputs = "input_values:int32; input_splits:Tsplits",
          .outputs = "output:string",
          .attrs =
              "errors:string{ignore,replace,strict}='replace'; output_encoding:string{UTF-8,UTF-16-BE,UTF-32-BE}; "
              "replacement_char:int=65533; Tsplits:type{int32,int64}=int64",
          .infer = infer_encode,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<encode>},
          .host_only = true};
}

}  // namespace weir::ops
