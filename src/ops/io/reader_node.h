#pragma once

#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/io/reader.h"
#include "ops/types.h"

namespace weir::ops {

// What the rows of all kinds of readers share: a node gives a handle to the reader that it names. `R` is the kind, with
// `static ResourcePtr<Reader> make(const PrepareContext&, std::string name)`.
struct ReaderState {
  ResourcePtr<Reader> reader;
};

inline void give_reader(KernelContext& c) { c.set_resource(0, c.state<ReaderState>().reader.get()); }

template <ResourcePtr<Reader> (*Make)(const PrepareContext& c, const std::string& name)>
ReaderState prepare_reader(PrepareContext& c) {
  return {c.named_resource<Reader>([&](const std::string& name) { return Make(c, name); })};
}

template <ResourcePtr<Reader> (*Make)(const PrepareContext& c, const std::string& name)>
OpDef reader_row(std::string_view name, bool is_resource, std::string_view attrs, std::string_view flags = "stateful") {
  return {.name = name,
          .outputs = is_resource ? "reader_handle:resource" : "reader_handle:Ref(string)",
          .attrs = attrs,
          .flags = flags,
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<give_reader>, .prepare = prepared<prepare_reader<Make>>},
          .host_only = true};
}

}  // namespace weir::ops
