#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "command.h"
#include "weir/error.h"

namespace weir::tool {
namespace {

// In the order of the help. A new subcommand is a file beside this one and a row here.
const Command* const kCommands[] = {&kRun,     &kLaunch, &kTrain, &kProfile, &kCheckpoint, &kGraph,  &kRecords,
                                    &kDevices, &kWhere,  &kOps,   &kModel,   &kServer,     &kCluster};

void print_help() {
  fmt::print(
      "Runs TensorFlow programs, trains their networks, and looks into the files of Weir and TensorFlow.\n\n"
      "  weir COMMAND ...         runs a command\n"
      "  weir COMMAND --help      tells more about it\n"
      "  weir program.py ...      the same as weir run program.py ...\n\n");
  for (const Command* command : kCommands) fmt::print("  {:<12} {}\n", command->name, command->summary);
}

void print_help(const Command& command) {
  fmt::print("weir {} {}\n\n{}.\n\n{}", command.name, command.usage, command.summary, command.help);
}

}  // namespace

int run_command(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    print_help();
    return arguments.empty() ? 2 : 0;
  }
  const auto found = std::ranges::find(kCommands, arguments[0], &Command::name);
  if (found == std::end(kCommands) && std::filesystem::is_regular_file(arguments[0])) return kRun.run(arguments);
  if (found == std::end(kCommands)) {
    fmt::print(stderr, "weir: '{}' is no command; 'weir --help' lists them\n", arguments[0]);
    return 2;
  }
  const Command& command = **found;
  const auto rest = arguments.subspan(1);
  const auto flags_end = command.own_help ? rest.begin() : std::ranges::find(rest, "--");
  if (std::find(rest.begin(), flags_end, "--help") != flags_end ||
      std::find(rest.begin(), flags_end, "-h") != flags_end) {
    print_help(command);
    return 0;
  }
  try {
    return command.run(rest);
  } catch (const UsageError& e) {
    fmt::print(stderr, "weir {}: {}\nusage: weir {} {}\n", command.name, e.what(), command.name, command.usage);
    return 2;
  } catch (const Error& e) {
    fmt::print(stderr, "weir {}: {}\n", command.name, e.what());
    return 1;
  }
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command* command : kCommands) names.emplace_back(command->name);
  return names;
}

Arguments parse_arguments(std::span<const std::string> arguments, const std::vector<std::string>& flags_with_value,
                          const std::vector<std::string>& flags_without) {
  Arguments parsed;
  auto is_in = [](const std::vector<std::string>& flags, const std::string& flag) {
    return std::ranges::find(flags, flag) != flags.end();
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      parsed.positional.insert(parsed.positional.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                               arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      parsed.positional.push_back(argument);
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    const bool has_value = equals != std::string::npos;
    if (is_in(flags_with_value, flag)) {
      if (!has_value && i + 1 == arguments.size()) throw UsageError(fmt::format("{} needs a value", flag));
      parsed.values[flag] = has_value ? argument.substr(equals + 1) : arguments[++i];
    } else if (is_in(flags_without, flag)) {
      if (has_value) throw UsageError(fmt::format("{} takes no value", flag));
      parsed.values[flag] = "";
    } else {
      throw UsageError(fmt::format("unknown flag {}", flag));
    }
  }
  return parsed;
}

}  // namespace weir::tool
