#include "command.h"

namespace weir::tool {
namespace {

int where(std::span<const std::string> arguments) {
  std::vector<std::string> words = {"where"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_python_package("where", words);
}

}  // namespace

const Command kWhere = {
    .name = "where",
    .usage = "NAME ...",
    .summary = "Tells where a name of TensorFlow, such as tf.nn.conv2d, is defined",
    .help = "Uses the Python package weir of python3, or of the interpreter that WEIR_PYTHON names.\n",
    .run = where,
    .own_help = true,
};

}  // namespace weir::tool
