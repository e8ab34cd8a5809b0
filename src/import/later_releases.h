#pragma once

#include <memory>
#include <string_view>

#include "graph/op.h"
#include "proto/graph.pb.h"

// What releases of TensorFlow after 1.15 write into graphs, and what of it means something here.
namespace weir {

// Whether a value of an attribute that 1.15 never heard of means nothing.
bool is_blank(const proto::AttrValue& value);

// Whether an attribute came later and tells a kernel nothing that changes its result.
bool is_hint(const Op& op, std::string_view name);

// The message as TensorFlow 1.15 would have written it; null when that is how it came.
std::unique_ptr<proto::GraphDef> without_later_operations(const proto::GraphDef& message);

}  // namespace weir
