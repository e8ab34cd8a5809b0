#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/string_ops.h"

// Base64 with the alphabet that is safe in addresses and file names.
namespace weir::ops {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct State {
  bool pad;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("pad")}; }

std::string encoded(const std::string& text, bool pad) {
  std::string result;
  uint32_t bits = 0;
  int count = 0;  // of bits that are not written yet
  auto write = [&](uint32_t six) { result += kAlphabet[six & 63]; };
  for (const char c : text) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) write(bits >> (count - 6));
  }
  if (count > 0) write(bits << (6 - count));
  while (pad && result.size() % 4 != 0) result += '=';
  return result;
}

// Throws InvalidArgument for what encoded() cannot have written.
std::string decoded(std::string text, const KernelContext& c) {
  if (text.size() % 4 == 0) {
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.pop_back();
  }
  std::string result;
  uint32_t bits = 0;
  int count = 0;
  for (const char letter : text) {
    const size_t six = kAlphabet.find(letter);
    if (six == std::string_view::npos) c.fail("Invalid character found in base64.");
    bits = bits << 6 | static_cast<uint32_t>(six);
    count += 6;
    if (count >= 8) {
      count -= 8;
      result += static_cast<char>(bits >> count & 0xff);
    }
  }
  if (text.size() % 4 == 1) c.fail("Base64 string length cannot be 1 modulo 4.");
  return result;
}

void encode(KernelContext& c) {
  for (int64_t i = 0; i < c.elements(0); ++i) {
    c.output<std::string>()[i] = encoded(c.input<std::string>(0)[i], c.state<State>().pad);
  }
}

void decode(KernelContext& c) {
  for (int64_t i = 0; i < c.elements(0); ++i) c.output<std::string>()[i] = decoded(c.input<std::string>(0)[i], c);
}

}  // namespace

OpDef encode_base64_op() {
  return {.name = "EncodeBase64",
          .inputs = "input:string",
          .outputs = "output:string",
          .attrs = "pad:bool=False",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<encode>, .prepare = prepared<prepare>},
          .host_only = true};
}
OpDef decode_base64_op() {
  return {.name = "DecodeBase64",
          .inputs = "input:string",
          .outputs = "output:string",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<decode>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output encode_base64(const In& input, bool pad, std::string_view name) {
  return NodeBuilder("EncodeBase64", name).input(input).attr("pad", pad).output();
}
Output decode_base64(const In& input, std::string_view name) {
  return NodeBuilder("DecodeBase64", name).input(input).output();
}

}  // namespace weir
