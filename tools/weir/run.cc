#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "command.h"

namespace weir::tool {

int run_python_package(const char* command, std::span<const std::string> arguments) {
  const char* chosen = std::getenv("WEIR_PYTHON");
  const std::string python = chosen && *chosen ? chosen : "python3";
  std::vector<std::string> words = {python, "-m", "weir"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  fmt::print(stderr, "weir {}: cannot start {}: {}\n", command, python, std::strerror(errno));
  return 127;
}

const Command kRun = {
    .name = "run",
    .usage = "[options] program.py [arguments of the program]",
    .summary = "Runs a program that is written for TensorFlow 0.x or 1.x",
    .help = "Uses the Python package weir of python3, or of the interpreter that WEIR_PYTHON names.\n",
    .run = [](std::span<const std::string> arguments) { return run_python_package("run", arguments); },
    .own_help = true,
};

}  // namespace weir::tool
