#pragma once

// The functions that make nodes, area by area. Every function takes `In` arguments: outputs, variables, tensors,
// numbers and nested lists; and an optional name for the node.
#include "weir/array_ops.h"
#include "weir/control_ops.h"
#include "weir/math_ops.h"
#include "weir/nn.h"
#include "weir/random_ops.h"
#include "weir/state_ops.h"
