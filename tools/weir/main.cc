#include <string>
#include <vector>

#include "command.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return weir::tool::run_command(arguments);
}
