#pragma once

#include <string>

#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "proto/summary.pb.h"

namespace weir::ops {

// Makes a serialised Summary the kernel's output, a string scalar.
inline void set_summary(KernelContext& c, const proto::Summary& summary) {
  if (!summary.SerializeToString(c.output<std::string>())) c.fail("the summary is larger than 2 GB");
}

// The tag of one of several images or sounds: "tag/image/0", or "tag/image" when one at most was asked for.
inline std::string numbered_tag(const std::string& tag, std::string_view kind, int64_t index, int64_t most) {
  std::string text = tag + "/" + std::string(kind);
  return most > 1 ? text + "/" + std::to_string(index) : text;
}

// Shape function of summaries whose input 0 is one tag.
void infer_tagged_summary(InferContext& c);
// And of the operations that write them: input 0 is the writer, input 1 the step and input 2 the tag.
void infer_write_summary(InferContext& c);

}  // namespace weir::ops
