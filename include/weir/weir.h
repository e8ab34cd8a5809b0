#pragma once

// Everything a program needs.
#include "weir/checkpoint.h"
#include "weir/data.h"
#include "weir/error.h"
#include "weir/gradients.h"
#include "weir/graph.h"
#include "weir/io_ops.h"
#include "weir/ops.h"
#include "weir/records.h"
#include "weir/saver.h"
#include "weir/session.h"
#include "weir/state_ops.h"
#include "weir/summary.h"
#include "weir/train.h"
