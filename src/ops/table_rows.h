#pragma once

#include "ops/tables.h"

// A table.cc lists its operations once; this turns the list into declarations of `OpDef <row>_op()` and a table:
//
//   #define ROWS(row) row(identity) row(reshape)
//   WEIR_OP_TABLE(array_ops, ROWS)
#define WEIR_DECLARE_ROW(name) OpDef name##_op();
#define WEIR_CALL_ROW(name) name##_op(),
#define WEIR_OP_TABLE(table, ROWS)                                \
  namespace weir::ops {                                           \
  ROWS(WEIR_DECLARE_ROW)                                          \
  const std::vector<OpDef>& table() {                             \
    static const std::vector<OpDef> rows = {ROWS(WEIR_CALL_ROW)}; \
    return rows;                                                  \
  }                                                               \
  }
