#include "distributed/status.h"

#include "base/errors.h"

namespace weir::distributed {
namespace {

constexpr std::string_view kBegin = "\n\t [[{{node ", kEnd = "}}]]";

}  // namespace

std::string error_text(const Error& error) {
  if (error.node().empty()) return error.message();
  std::string where;
  if (!error.line().file.empty()) where = fmt::format(" (defined at {}:{})", error.line().file, error.line().line);
  return fmt::format("{}{}{}{}{}", error.message(), where, kBegin, error.node(), kEnd);
}

Error error_from_text(Code code, const std::string& text, const Graph* graph) {
  if (code == Code::Ok) code = Code::Unknown;
  const size_t begin = text.rfind(kBegin);
  const size_t end = begin == std::string::npos ? begin : text.find(kEnd, begin);
  if (end == std::string::npos) return {code, text};
  const std::string name = text.substr(begin + kBegin.size(), end - begin - kBegin.size());
  const std::string message = text.substr(0, begin);
  const Operation operation = graph ? graph->find(name) : Operation();
  if (!operation) return {code, message, "", name, {}};
  return {code, message, operation.type(), name, operation.line()};
}

Error as_error(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return {Code::ResourceExhausted, "out of memory"};
  } catch (const std::exception& e) {
    return {Code::Internal, e.what()};
  } catch (...) {
    return {Code::Unknown, "an exception of an unknown kind"};
  }
}

}  // namespace weir::distributed
