#include <unordered_map>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "io/file.h"
#include "ops/lookup/vocabulary.h"
#include "ops/types.h"

// For each word of a part of a new vocabulary its line in the old one, or -1.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
  c.set_output(0, Shape{c.attr<int64_t>("num_new_vocab")});
  c.set_output(1, Shape{});
}

void cpu(KernelContext& c) {
  const auto &new_file = c.scalar<std::string>(0), &old_file = c.scalar<std::string>(1);
  if (new_file.empty() || old_file.empty()) throw invalid_argument("new vocab filename cannot be empty.");
  const std::string new_text = io::read_file(new_file);
  const auto words = vocabulary_lines(new_text, -1, new_file);
  const int64_t offset = c.node().attr<int64_t>("new_vocab_offset"), count = c.node().attr<int64_t>("num_new_vocab");
  if (offset > static_cast<int64_t>(words.size()) || count > static_cast<int64_t>(words.size()) - offset) {
    throw invalid_argument("lookup table size must be larger than last new vocab entry's line");
  }
  const std::string old_text = io::read_file(old_file);
  std::unordered_map<std::string_view, int64_t> lines;
  for (std::string_view word : vocabulary_lines(old_text, c.node().attr<int64_t>("old_vocab_size"), old_file)) {
    if (!lines.emplace(word, static_cast<int64_t>(lines.size())).second) {
      throw error(Code::FailedPrecondition, "HashTable has different value for same key. Key {} is twice in {}", word,
                  old_file);
    }
  }
  int32_t present = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto line = lines.find(words[static_cast<size_t>(offset + i)]);
    c.output<int64_t>()[i] = line == lines.end() ? -1 : line->second;
    present += line != lines.end();
  }
  *c.output<int32_t>(1) = present;
}

}  // namespace

OpDef generate_vocab_remapping_op() {
  return {.name = "GenerateVocabRemapping",
          .inputs = "new_vocab_file:string; old_vocab_file:string",
          .outputs = "remapping:int64; num_present:int32",
          .attrs = "new_vocab_offset:int>=0; num_new_vocab:int>=0; old_vocab_size:int>=-1=-1",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
