#include "weir/server.h"

#include <fmt/core.h>

#include <csignal>
#include <thread>

#include "command.h"
#include "weir/error.h"

namespace weir::tool {
namespace {

constexpr const char* kCredentialFlags[] = {"--token-file", "--ca", "--certificate", "--key"};

std::string read_line(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (!file) throw Error(Code::NotFound, fmt::format("the file '{}' cannot be read", path));
  char text[4096] = "";
  const size_t size = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  std::string line(text, size);
  return line.substr(0, line.find_first_of("\r\n"));
}

ClusterCredentials credentials_of(const Arguments& arguments) {
  ClusterCredentials c;
  if (const auto file = arguments.value("--token-file")) c.token = read_line(*file);
  c.ca_file = arguments.value("--ca").value_or("");
  c.certificate_file = arguments.value("--certificate").value_or("");
  c.key_file = arguments.value("--key").value_or("");
  return c;
}

std::vector<std::string> with_credentials(std::vector<std::string> flags) {
  flags.insert(flags.end(), std::begin(kCredentialFlags), std::end(kCredentialFlags));
  return flags;
}

int64_t number(const Arguments& arguments, const std::string& flag, int64_t otherwise) {
  const auto text = arguments.value(flag);
  if (!text) return otherwise;
  char* end = nullptr;
  const long long value = std::strtoll(text->c_str(), &end, 10);
  if (text->empty() || *end || value < 0) throw UsageError(fmt::format("{} must be a number, not '{}'", flag, *text));
  return value;
}

int serve(std::span<const std::string> words) {
  const Arguments arguments =
      parse_arguments(words,
                      with_credentials({"--cluster", "--job", "--task", "--threads", "--max-message-mb",
                                        "--max-graph-nodes", "--max-sessions"}),
                      {"--listen-to-network", "--untrusted-clients"});
  if (!arguments.positional.empty()) throw UsageError("only flags are wanted");
  const auto cluster = arguments.value("--cluster");
  if (!cluster) throw UsageError("--cluster is wanted: ps=host:port,worker=host:port,host:port");
  train::ServerOptions options;
  options.cluster = train::parse_cluster(*cluster);
  options.job = arguments.value("--job").value_or("");
  options.task = static_cast<int>(number(arguments, "--task", -1));
  options.config.intra_op_parallelism_threads = static_cast<int>(number(arguments, "--threads", 0));
  options.config.credentials = credentials_of(arguments);
  options.max_message_bytes = static_cast<size_t>(number(arguments, "--max-message-mb", 0)) << 20;
  options.max_graph_nodes = static_cast<size_t>(number(arguments, "--max-graph-nodes", 0));
  options.max_sessions = static_cast<size_t>(number(arguments, "--max-sessions", 0));
  options.listen_to_network = arguments.has("--listen-to-network");
  options.untrusted_clients = arguments.has("--untrusted-clients");
  // SIGINT and SIGTERM end the server; they are waited for here, so all of its threads leave them alone.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  int signal = 0;
  {
    train::Server server(std::move(options));
    fmt::print("{}\n", server.target());
    std::fflush(stdout);
    sigwait(&signals, &signal);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return 0;
}

int show_cluster(std::span<const std::string> words) {
  const Arguments arguments = parse_arguments(words, with_credentials({"--timeout"}));
  if (arguments.positional.size() < 2 || arguments.positional[0] != "status")
    throw UsageError("status HOST:PORT is wanted");
  const std::chrono::seconds timeout(number(arguments, "--timeout", 10));
  int failed = 0;
  for (size_t i = 1; i < arguments.positional.size(); ++i) {
    try {
      fmt::print("{}\n", train::server_status(arguments.positional[i], credentials_of(arguments), timeout));
    } catch (const Error& e) {
      fmt::print(stderr, "weir cluster: {}\n", e.what());
      ++failed;
    }
  }
  return failed > 0 ? 1 : 0;
}

}  // namespace

const Command kServer = {
    .name = "server",
    .usage = "--cluster ps=HOST:PORT,worker=HOST:PORT,HOST:PORT --job NAME --task N [flags]",
    .summary = "Runs one task of a cluster until it is interrupted",
    .help =
        "Prints the address for sessions, grpc://HOST:PORT. Clients are programs of Weir and of TensorFlow.\n\n"
        "  --cluster TEXT          the tasks of all jobs, in order; also as TensorFlow's server has it:\n"
        "                          ps|HOST:PORT,worker|HOST:PORT;HOST:PORT\n"
        "  --job NAME, --task N    which of them this is; may be left out where there is only one\n"
        "  --threads N             of one kernel; default: one a core\n"
        "  --listen-to-network     accepts calls of other machines, not only of this one\n"
        "  --token-file FILE       calls must show the secret in FILE\n"
        "  --ca FILE --certificate FILE --key FILE\n"
        "                          mutual TLS, with these PEM files\n"
        "  --untrusted-clients     refuses operations on files and of the host\n"
        "  --max-message-mb N, --max-graph-nodes N, --max-sessions N\n"
        "                          refuses larger messages, larger graphs, more sessions\n\n"
        "  weir server --cluster ps=localhost:2222,worker=localhost:2223,localhost:2224 --job ps --task 0\n",
    .run = serve};

const Command kCluster = {.name = "cluster",
                          .usage = "status HOST:PORT ... [flags]",
                          .summary = "Shows what servers do: sessions, steps, who waits for what, bytes moved",
                          .help =
                              "  --timeout SECONDS       how long a server may take to answer (10)\n"
                              "  --token-file FILE, --ca FILE, --certificate FILE, --key FILE\n"
                              "                          as for weir server\n\n"
                              "  weir cluster status localhost:2222 localhost:2223\n",
                          .run = show_cluster};

}  // namespace weir::tool
