#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "command.h"

namespace weir::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct Task {
  std::string label = {};
  std::vector<std::string> words = {};        // of its command line
  std::vector<std::string> environment = {};  // "NAME=value", besides the launcher's own
  bool serves = false;                        // a parameter server: ends with the others
  pid_t pid = -1;
  int output = -1, errors = -1;            // the ends that are read
  std::string line = {}, error_line = {};  // what has come of the last lines
  bool running = false;
};

int number_of(const Arguments& arguments, const std::string& flag, int fallback, int least) {
  const std::optional<std::string> text = arguments.value(flag);
  if (!text) return fallback;
  int number = 0;
  const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (code != std::errc() || end != text->data() + text->size() || number < least || number > 4096) {
    throw UsageError(fmt::format("{} wants a number of at least {}, not '{}'", flag, least, *text));
  }
  return number;
}

// Ports of this machine that nobody uses; all are held until all are found.
std::vector<int> free_ports(int count) {
  std::vector<int> sockets, ports;
  for (int i = 0; i < count; ++i) {
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (made < 0 || bind(made, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        getsockname(made, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      throw UsageError(fmt::format("there is no free port: {}", std::strerror(errno)));
    }
    sockets.push_back(made);
    ports.push_back(ntohs(address.sin_port));
  }
  for (int made : sockets) close(made);
  return ports;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// How a program is started: one of Python by the package.
std::vector<std::string> command_of(const std::vector<std::string>& program) {
  std::vector<std::string> words;
  if (program[0].ends_with(".py")) {
    const char* python = std::getenv("WEIR_PYTHON");
    words = {python && *python ? python : "python3", "-u", "-m", "weir"};
  }
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::vector<Task> ranks(int count, const std::string& transport, const std::vector<std::string>& program) {
  const int port = free_ports(1)[0];
  std::vector<Task> tasks;
  for (int rank = 0; rank < count; ++rank) {
    Task task{.label = fmt::format("{}", rank), .words = command_of(program)};
    task.environment = {fmt::format("WEIR_RANK={}", rank), fmt::format("WEIR_SIZE={}", count),
                        fmt::format("WEIR_RENDEZVOUS=127.0.0.1:{}", port), "WEIR_ADDRESS=127.0.0.1"};
    if (!transport.empty()) task.environment.push_back("WEIR_TRANSPORT=" + transport);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

// Addresses as TF_CONFIG has them, and with commas between them, as flags of programs do.
std::string joined(const std::vector<int>& ports, bool quoted) {
  std::string text;
  for (int port : ports)
    text += fmt::format("{}{}127.0.0.1:{}{}", text.empty() ? "" : ",", quoted ? "\"" : "", port, quoted ? "\"" : "");
  return text;
}

std::vector<Task> cluster(int servers, int workers, const std::vector<std::string>& program) {
  std::vector<int> ports = free_ports(servers + workers);
  const std::vector<int> server_ports(ports.begin(), ports.begin() + servers),
      worker_ports(ports.begin() + servers, ports.end());
  std::vector<Task> tasks;
  for (int i = 0; i < servers + workers; ++i) {
    const bool serves = i < servers;
    const std::string job = serves ? "ps" : "worker", index = fmt::format("{}", serves ? i : i - servers);
    Task task{.label = job + " " + index, .words = command_of(program), .serves = serves};
    for (std::string& word : task.words) {
      word = replaced(replaced(word, "{job}", job), "{task}", index);
      word = replaced(replaced(word, "{ps_hosts}", joined(server_ports, false)), "{worker_hosts}",
                      joined(worker_ports, false));
    }
    task.environment = {
        fmt::format(R"(TF_CONFIG={{"cluster": {{"ps": [{}], "worker": [{}]}}, "task": {{"type": "{}", "index": {}}}}})",
                    joined(server_ports, true), joined(worker_ports, true), job, index)};
    tasks.push_back(std::move(task));
  }
  return tasks;
}

int g_wake = -1;  // where a signal's number is written; handlers see nothing else
void on_signal(int number) {
  const auto byte = static_cast<unsigned char>(number);
  [[maybe_unused]] const ssize_t written = write(g_wake, &byte, 1);
}

class Launcher {
 public:
  Launcher(std::vector<Task> tasks, std::chrono::seconds grace) : tasks_(std::move(tasks)), grace_(grace) {}

  int run() {
    Signals signals(wake_);
    for (Task& task : tasks_) start(task);
    while (std::ranges::any_of(tasks_, [](const Task& t) { return t.running || t.output >= 0 || t.errors >= 0; })) {
      wait();
      reap();
      if (ending_ && Clock::now() >= kill_at_) signal_all(SIGKILL);
    }
    return code_;
  }

 private:
  // While it lives, signals that would end the launcher are the tasks', too.
  struct Signals {
    explicit Signals(int* wake) {
      if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0) throw UsageError("no pipe can be made");
      g_wake = wake[1];
      struct sigaction action = {};
      action.sa_handler = on_signal;
      for (size_t i = 0; i < std::size(kNumbers); ++i) sigaction(kNumbers[i], &action, &before_[i]);
    }
    ~Signals() {
      for (size_t i = 0; i < std::size(kNumbers); ++i) sigaction(kNumbers[i], &before_[i], nullptr);
    }
    static constexpr int kNumbers[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    struct sigaction before_[4];
  };

  void start(Task& task) {
    int output[2], errors[2];
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) throw UsageError("no pipe can be made");
    std::vector<char*> words, environment;
    for (std::string& word : task.words) words.push_back(word.data());
    words.push_back(nullptr);
    for (std::string& entry : task.environment) environment.push_back(entry.data());
    task.pid = fork();
    if (task.pid == 0) {
      setpgid(0, 0);  // what it starts ends with it
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      for (char* entry : environment) putenv(entry);
      if (&task != &tasks_[0]) {
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
      }
      dup2(output[1], STDOUT_FILENO);
      dup2(errors[1], STDERR_FILENO);
      execvp(words[0], words.data());
      dprintf(STDERR_FILENO, "cannot be started: %s: %s\n", words[0], std::strerror(errno));
      _exit(127);
    }
    close(output[1]);
    close(errors[1]);
    if (task.pid < 0) throw UsageError(fmt::format("no process can be made: {}", std::strerror(errno)));
    setpgid(task.pid, task.pid);
    for (int end : {output[0], errors[0]}) fcntl(end, F_SETFL, O_NONBLOCK);
    task.output = output[0];
    task.errors = errors[0];
    task.running = true;
  }

  void wait() {
    std::vector<pollfd> files = {{wake_[0], POLLIN, 0}};
    for (const Task& task : tasks_) {
      files.push_back({task.output, POLLIN, 0});
      files.push_back({task.errors, POLLIN, 0});
    }
    int limit = -1;
    if (ending_) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(kill_at_ - Clock::now()).count();
      limit = static_cast<int>(std::clamp<int64_t>(left, 0, 1000)) + 1;
    }
    if (poll(files.data(), files.size(), limit) < 0) return;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (files[1 + 2 * i].revents) drain(tasks_[i], tasks_[i].output, tasks_[i].line, stdout);
      if (files[2 + 2 * i].revents) drain(tasks_[i], tasks_[i].errors, tasks_[i].error_line, stderr);
    }
    unsigned char number = 0;
    while (read(wake_[0], &number, 1) == 1) {
      if (number == SIGCHLD) continue;
      code_ = code_ ? code_ : 128 + number;
      if (ending_) {
        signal_all(SIGKILL);  // asked twice
      } else {
        end(number);
      }
    }
  }

  // Whole lines, each with its label, so that those of several tasks do not mix.
  static void drain(const Task& task, int& file, std::string& line, FILE* to) {
    char bytes[65536];
    const ssize_t got = read(file, bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) line.append(bytes, static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = line.find('\n', begin)) != std::string::npos; begin = end + 1) {
      fmt::print(to, "[{}] {}\n", task.label, std::string_view(line).substr(begin, end - begin));
    }
    line.erase(0, begin);
    if (got <= 0) {
      if (!line.empty()) fmt::print(to, "[{}] {}\n", task.label, line);
      line.clear();
      close(file);
      file = -1;
    }
    std::fflush(to);
  }

  void reap() {
    for (Task& task : tasks_) {
      int status = 0;
      if (!task.running || waitpid(task.pid, &status, WNOHANG) != task.pid) continue;
      task.running = false;
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      if (code != 0 && !ending_) {
        fmt::print(stderr, "weir launch: [{}] ended with {}; the others are ended, too\n", task.label,
                   WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                                       : fmt::format("exit code {}", code));
        code_ = code;
        end(SIGTERM);
      }
    }
    // Servers wait for ever: when all others have done their work, theirs is done.
    if (!ending_ && std::ranges::none_of(tasks_, [](const Task& t) { return t.running && !t.serves; })) end(SIGTERM);
  }

  void end(int number) {
    ending_ = true;
    kill_at_ = Clock::now() + grace_;
    signal_all(number);
  }
  void signal_all(int number) {
    for (const Task& task : tasks_) {
      if (task.running) kill(-task.pid, number);
    }
    if (number == SIGKILL) kill_at_ = Clock::now() + std::chrono::seconds(1);
  }

  std::vector<Task> tasks_;
  const std::chrono::seconds grace_;
  int wake_[2] = {-1, -1};
  bool ending_ = false;
  Clock::time_point kill_at_ = Clock::time_point::max();
  int code_ = 0;
};

int launch(std::span<const std::string> arguments) {
  // The launcher's own flags come before the program.
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    fmt::print("weir {} {}\n\n{}.\n\n{}", kLaunch.name, kLaunch.usage, kLaunch.summary, kLaunch.help);
    return 0;
  }
  const std::vector<std::string> flags = {"-n", "--ps", "--workers", "--transport", "--grace"};
  size_t own = 0;
  while (own < arguments.size() && arguments[own].starts_with('-') && arguments[own] != "--") {
    own += std::ranges::find(flags, arguments[own]) != flags.end() ? 2 : 1;
  }
  own = std::min(own, arguments.size());
  const Arguments parsed = parse_arguments(arguments.first(own), flags);
  std::vector<std::string> program(arguments.begin() + static_cast<std::ptrdiff_t>(own), arguments.end());
  if (!program.empty() && program[0] == "--") program.erase(program.begin());
  if (program.empty()) throw UsageError("no program is given");
  const int servers = number_of(parsed, "--ps", 0, 0), workers = number_of(parsed, "--workers", 0, 0);
  if ((servers > 0 || workers > 0) == parsed.has("-n")) {
    throw UsageError("give either -n N or --ps N --workers N");
  }
  if (servers > 0 && workers == 0) throw UsageError("a cluster needs workers, too: --workers N");
  const std::string transport = parsed.value("--transport").value_or("");
  std::vector<Task> tasks =
      parsed.has("-n") ? ranks(number_of(parsed, "-n", 1, 1), transport, program) : cluster(servers, workers, program);
  return Launcher(std::move(tasks), std::chrono::seconds(number_of(parsed, "--grace", 30, 0))).run();
}

}  // namespace

const Command kLaunch = {
    .name = "launch",
    .usage = "(-n N | --ps N --workers N) [--grace SECONDS] program [arguments]",
    .summary = "Starts the tasks of a program on this machine, with their output labelled, and ends them together",
    .help =
        "  -n N             N processes that average their gradients (weir.distributed, Horovod)\n"
        "  --transport T    what carries them: gloo\n"
        "  --ps N           a cluster with N parameter servers\n"
        "  --workers N      and N workers, which find it in TF_CONFIG; in the arguments of the program {job}, {task},\n"
        "                   {ps_hosts} and {worker_hosts} stand for what each task needs to know\n"
        "  --grace SECONDS  how long tasks may take to end when one has failed, or Ctrl-C was pressed: 30\n\n"
        "A program of Python (.py) is run by the package weir of python3, or of the interpreter that WEIR_PYTHON "
        "names. The\n"
        "first task that fails ends all, and its exit code is the launcher's. Parameter servers end with the last "
        "worker.\n\n"
        "  weir launch -n 4 train.py --steps=1000\n"
        "  weir launch --ps 1 --workers 2 mnist_replica.py --job_name={job} --task_index={task} \\\n"
        "      --ps_hosts={ps_hosts} --worker_hosts={worker_hosts}\n"
        "  mpirun -n 4 weir run train.py        # the same by Open MPI, also on many machines\n",
    .run = launch,
    .own_help = true,
};

}  // namespace weir::tool
