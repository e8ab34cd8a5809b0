#pragma once

#include "building.h"

namespace weir::python {

inline nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }
inline std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

// Work on files, without the interpreter lock; errors are those of a run.
template <class F>
auto outside(F f) {
  try {
    Unlocked unlocked;
    return f();
  } catch (const Error& error) {
    raise_run_error(error);
  }
}

// Names of a list; none of None.
inline std::vector<std::string> to_names(nb::handle list) {
  std::vector<std::string> names;
  if (!list.is_none()) {
    for (nb::handle item : nb::iter(list)) names.push_back(to_name(item));
  }
  return names;
}

}  // namespace weir::python
