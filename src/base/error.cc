#include "weir/error.h"

#include <utility>

namespace weir {
namespace {

std::string blame(const std::string& message, const std::string& op, const std::string& node, const SourceLine& line) {
  std::string text = op + " '" + node + "'";
  if (!line.file.empty()) {
    // The file's own name says enough; the full path is in line().
    size_t slash = line.file.find_last_of('/');
    text += " (" + line.file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" + std::to_string(line.line) + ")";
  }
  return text + ": " + message;
}

}  // namespace

std::string_view code_name(Code code) {
  switch (code) {
    case Code::Ok:
      return "Ok";
    case Code::Cancelled:
      return "Cancelled";
    case Code::Unknown:
      return "Unknown";
    case Code::InvalidArgument:
      return "InvalidArgument";
    case Code::DeadlineExceeded:
      return "DeadlineExceeded";
    case Code::NotFound:
      return "NotFound";
    case Code::AlreadyExists:
      return "AlreadyExists";
    case Code::PermissionDenied:
      return "PermissionDenied";
    case Code::ResourceExhausted:
      return "ResourceExhausted";
    case Code::FailedPrecondition:
      return "FailedPrecondition";
    case Code::Aborted:
      return "Aborted";
    case Code::OutOfRange:
      return "OutOfRange";
    case Code::Unimplemented:
      return "Unimplemented";
    case Code::Internal:
      return "Internal";
    case Code::Unavailable:
      return "Unavailable";
    case Code::DataLoss:
      return "DataLoss";
    case Code::Unauthenticated:
      return "Unauthenticated";
  }
  return "Unknown";
}

Error::Error(Code code, const std::string& message) : Error(code, message, Fault::Value) {}

Error::Error(Code code, const std::string& message, std::string op, std::string node, SourceLine line)
    : Error(code, message, std::move(op), std::move(node), std::move(line), Fault::Value) {}

Error::Error(Code code, const std::string& message, Fault fault)
    : std::runtime_error(message), code_(code), fault_(fault), message_(message) {}

Error::Error(Code code, const std::string& message, std::string op, std::string node, SourceLine line, Fault fault)
    : std::runtime_error(blame(message, op, node, line)),
      code_(code),
      fault_(fault),
      message_(message),
      op_(std::move(op)),
      node_(std::move(node)),
      line_(std::move(line)) {}

Error Error::blaming(std::string op, std::string node, SourceLine line) const {
  return Error(code_, message_, std::move(op), std::move(node), std::move(line), fault_);
}

}  // namespace weir
