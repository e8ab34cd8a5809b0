#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "weir/export.h"

namespace weir {

// TensorFlow's status codes, with its numbers.
enum class Code : int {
  Ok = 0,
  Cancelled = 1,
  Unknown = 2,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  AlreadyExists = 6,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  Aborted = 10,
  OutOfRange = 11,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  DataLoss = 15,
  Unauthenticated = 16,
};

WEIR_API std::string_view code_name(Code code);

// What is wrong with a thing that a program gave. Languages with an exception for each of them (Python's ValueError and
// TypeError) choose by it; the codes do not tell them apart.
enum class Fault : int { Value, Type };

// The line of a user's program. `file` is empty when it is not known.
struct SourceLine {
  std::string file;
  uint32_t line = 0;
};

// The only exception type that Weir throws. what() reads
//   MatMul 'layer1/MatMul' (train.cc:42): inner dimensions differ: [128,2304] x [2305,384]
// when a node is to blame, and is the plain message otherwise.
class WEIR_API Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message);
  Error(Code code, const std::string& message, Fault fault);
  // Blames a node: `op` is its type, `node` its name.
  Error(Code code, const std::string& message, std::string op, std::string node, SourceLine line);
  Error(Code code, const std::string& message, std::string op, std::string node, SourceLine line, Fault fault);
  // The same error, blaming a node.
  Error blaming(std::string op, std::string node, SourceLine line) const;

  Code code() const { return code_; }
  Fault fault() const { return fault_; }
  const std::string& message() const { return message_; }  // without the node
  const std::string& op() const { return op_; }
  const std::string& node() const { return node_; }
  const SourceLine& line() const { return line_; }

 private:
  Code code_;
  Fault fault_;
  std::string message_;
  std::string op_;
  std::string node_;
  SourceLine line_;
};

}  // namespace weir
