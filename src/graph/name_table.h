#pragma once

#include <string>
#include <unordered_map>

namespace weir {

// The names of a graph that are taken, and the scope that new ones stand in. For the building thread only. Graph's
// functions for names are in names.cc.
struct NameTable {
  // With the number that unique_name() tries next. Names are compared without case, as TensorFlow does, so that they
  // can be file names: these are in lower case.
  std::unordered_map<std::string, int> in_use;
  std::string scope;  // "" or "a/b"

  void mark(std::string name);  // as one that unique_name() must not give again
};

}  // namespace weir
