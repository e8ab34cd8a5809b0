#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/gradient.h"
#include "weir/graph.h"

// Data parallelism without servers: many processes run the same program, each with its own part of the data, and
// average their gradients. The names are Horovod's. docs/collectives.md shows how processes are started.
//
//   distributed::init();                                              // who are we, and how many
//   train::GradientDescent descent(0.1f * distributed::size());
//   train::DistributedOptimizer optimizer(descent);                  // averages gradients over the processes
//   Operation step = optimizer.minimize(loss);
//   Operation same = distributed::broadcast_global_variables(g, 0);  // run once after the initialisation
namespace weir::distributed {

// How a process finds the others.
struct Options {
  std::string transport = "alone";  // "mpi", "gloo", or "alone" for a single process
  // gloo: which process this is, of how many, and where rank 0 listens until all have found each other ("host:port").
  // MPI has these numbers from whoever started the processes.
  int rank = 0, size = 1;
  std::string rendezvous = {};
  std::string address = {}, interface = {};  // gloo: this machine's own, when the name of the machine does not say it
  // How long processes look for each other, and how long they wait for each other in a collective; zero: without end.
  std::chrono::milliseconds connect_timeout{300'000}, timeout{0};
  // Tensors that are ready at the same time travel together in buffers of up to so many bytes.
  size_t fusion_bytes = 64 << 20;
};

// The value of an environment variable, if it is set.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

// What mpirun (Open MPI), srun (Slurm), a Kubernetes training operator (TF_CONFIG) or `weir launch` has told this
// process by its environment; "alone" when nobody has. WEIR_TRANSPORT, WEIR_RANK, WEIR_SIZE, WEIR_RENDEZVOUS,
// WEIR_ADDRESS, WEIR_INTERFACE, WEIR_TIMEOUT_SECONDS and WEIR_FUSION_BYTES come first. Without a lookup, of the
// process's environment. Throws InvalidArgument for values that make no sense.
WEIR_API Options from_environment(const Lookup& lookup = {});

// The cluster of servers that TF_CONFIG or Slurm describes, and this process's place in it.
struct ClusterPlace {
  std::map<std::string, std::vector<std::string>> jobs;  // addresses by job
  std::string job;
  int task = 0;
};
// Nothing when the environment describes none. With Slurm, `port` is that of the first process of each machine.
WEIR_API std::optional<ClusterPlace> cluster_from_environment(const Lookup& lookup = {}, int port = 8888);

// Joins the others; returns when all are there. Nothing happens when that was done before. Throws NotFound when the
// transport's library is missing, Unavailable when the others are.
WEIR_API void init(const Options& options);
WEIR_API void init();  // from_environment()
// Leaves; waits for the others to do so, too. What they still have under way fails with Aborted. Done by itself when
// the program ends.
WEIR_API void shutdown();
WEIR_API bool is_initialized();
// These throw FailedPrecondition before init().
WEIR_API int rank();
WEIR_API int size();
WEIR_API int local_rank();  // among the processes of this machine
WEIR_API int local_size();
WEIR_API std::string transport();

enum class Reduction { Average, Sum, Min, Max, Product };

struct AllreduceOptions {
  Reduction reduction = Reduction::Average;
  std::string_view name = {};
  std::string_view group = {};  // of processes; empty: all
};
// The mean, or another reduction, of the tensors of all processes, which have one shape; it is the same to the bit
// everywhere. A process waits at none of these operations before it has computed all that it can without them; names
// of nodes must be the same in all processes. Averages of integers are rounded down.
WEIR_API Output allreduce(const In& tensor, const AllreduceOptions& options = {},
                          In::Where where = In::Where::current());
// The same for a gradient. Of sparse ones the rows of all are gathered.
WEIR_API Gradient allreduce_gradient(const Gradient& gradient, const AllreduceOptions& options = {},
                                     In::Where where = In::Where::current());
// The tensors of all processes, one behind the other along the first dimension, in which they may differ.
WEIR_API Output allgather(const In& tensor, std::string_view name = {}, In::Where where = In::Where::current());
// That of the process `root_rank`.
WEIR_API Output broadcast(const In& tensor, int root_rank, std::string_view name = {},
                          In::Where where = In::Where::current());
// Gives variables the values that they have in the process `root_rank`.
WEIR_API Operation broadcast_variables(Graph& graph, const std::vector<Variable>& variables, int root_rank,
                                       In::Where where = In::Where::current());
WEIR_API Operation broadcast_global_variables(Graph& graph, int root_rank, In::Where where = In::Where::current());

}  // namespace weir::distributed
