#include <algorithm>
#include <cctype>

#include "base/errors.h"
#include "graph/graph_impl.h"

namespace weir {
namespace {

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '/';
}

void check_name(std::string_view name, bool inside_scope, std::string_view kind) {
  bool valid = std::all_of(name.begin(), name.end(), is_name_char);
  if (valid && !inside_scope && !name.empty()) {
    valid = std::isalnum(static_cast<unsigned char>(name[0])) || name[0] == '.';
  }
  if (!valid || name.empty()) throw invalid_argument("'{}' is not a valid {} name", name, kind);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

void NameTable::mark(std::string name) { in_use.try_emplace(lower(std::move(name)), 1); }

std::string Graph::unique_name(std::string_view name, bool mark_as_used) {
  check_name(name, !impl_->names.scope.empty(), "operation");
  std::string full = impl_->names.scope.empty() ? std::string(name) : impl_->names.scope + "/" + std::string(name);
  auto& in_use = impl_->names.in_use;
  std::string base = lower(full), key = base;
  auto found = in_use.find(key);
  int count = found == in_use.end() ? 0 : found->second;
  if (mark_as_used) in_use[key] = count + 1;
  if (count == 0) return full;
  while (in_use.count(key)) key = base + "_" + std::to_string(count++);
  if (mark_as_used) in_use[key] = 1;
  return full + "_" + std::to_string(count - 1);
}

Scope Graph::name_scope(std::string_view name) {
  std::string previous = impl_->names.scope;
  if (name.empty()) {
    impl_->names.scope.clear();
  } else if (name.back() == '/') {
    name.remove_suffix(1);
    check_name(name, false, "scope");
    impl_->names.scope = name;
  } else {
    check_name(name, !previous.empty(), "scope");
    impl_->names.scope = unique_name(name);
  }
  std::string entered = impl_->names.scope.empty() ? "" : impl_->names.scope + "/";
  return Scope(std::move(entered), [this, previous] { impl_->names.scope = previous; });
}

const std::string& Graph::current_name_scope() const { return impl_->names.scope; }

}  // namespace weir
