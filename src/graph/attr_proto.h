#pragma once

#include "graph/op.h"
#include "proto/attr_value.pb.h"
#include "tensor/tensor_proto.h"
#include "weir/attr.h"

namespace weir {

void attr_to_proto(const AttrValue& value, proto::AttrValue& message);

// `spec` tells what an empty list is a list of; null when the signature does not know the attribute. Throws
// InvalidArgument for a value of no kind or of several.
AttrValue attr_from_proto(const proto::AttrValue& message, const AttrSpec* spec, ExpansionAllowance& allowance);

}  // namespace weir
