#pragma once

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir::tool {

// A subcommand: one file in this folder, one row of the table in commands.cc.
struct Command {
  const char* name;
  const char* usage;                                   // what follows the name: "FILE [--tensor NAME]"
  const char* summary;                                 // one line for `weir --help`
  const char* help;                                    // the rest of `weir NAME --help`, flags and examples
  int (*run)(std::span<const std::string> arguments);  // returns the exit code; may throw UsageError and weir::Error
  bool own_help = false;                               // --help is for the command, which passes it on
};

extern const Command kRun;
extern const Command kLaunch;
extern const Command kTrain;
extern const Command kCheckpoint;
extern const Command kGraph;
extern const Command kRecords;
extern const Command kProfile;
extern const Command kWhere;
extern const Command kDevices;
extern const Command kOps;
extern const Command kModel;
extern const Command kServer;
extern const Command kCluster;

// `weir COMMAND ...` without the first word; returns the exit code.
int run_command(std::span<const std::string> arguments);
std::vector<std::string> command_names();

// Replaces this process by the Python package, `python3 -m weir ARGUMENTS`. Returns an exit code when Python cannot be
// started, which it reports in the name of `command`.
int run_python_package(const char* command, std::span<const std::string> arguments);

// The command was called in a way that it does not understand: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Arguments sorted into flags and the rest.
struct Arguments {
  std::vector<std::string> positional;
  std::map<std::string, std::string> values;  // by flag: "--tensor" -> "weights"; "" for flags without a value

  bool has(const std::string& flag) const { return values.contains(flag); }
  std::optional<std::string> value(const std::string& flag) const {
    auto it = values.find(flag);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  }
};

// Takes "--flag value" and "--flag=value"; what follows "--" is positional. Throws UsageError for flags that are not
// listed, that lack their value or that have one too many.
Arguments parse_arguments(std::span<const std::string> arguments, const std::vector<std::string>& flags_with_value,
                          const std::vector<std::string>& flags_without = {});

}  // namespace weir::tool
