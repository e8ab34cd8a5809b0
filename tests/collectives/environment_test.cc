#include <gtest/gtest.h>

#include "weir/collectives.h"
#include "weir/error.h"

namespace weir::distributed {
namespace {

Lookup of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Environment, WithoutALauncherAProcessIsAlone) {
  const Options options = from_environment(of({}));
  EXPECT_EQ(options.transport, "alone");
  EXPECT_EQ(options.size, 1);
  EXPECT_FALSE(cluster_from_environment(of({})));
}

TEST(Environment, OfMpirun) {
  const Options options = from_environment(of({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "2"}}));
  EXPECT_EQ(options.transport, "mpi");
  EXPECT_EQ(options.rank, 2);
  EXPECT_EQ(options.size, 4);
}

TEST(Environment, OfWeirLaunch) {
  const Options options = from_environment(of(
      {{"WEIR_RANK", "1"}, {"WEIR_SIZE", "2"}, {"WEIR_RENDEZVOUS", "127.0.0.1:4000"}, {"WEIR_FUSION_BYTES", "1024"}}));
  EXPECT_EQ(options.transport, "gloo");
  EXPECT_EQ(options.rendezvous, "127.0.0.1:4000");
  EXPECT_EQ(options.fusion_bytes, 1024u);
}

TEST(Environment, OfSlurm) {
  const std::map<std::string, std::string> step = {{"SLURM_PROCID", "3"},
                                                   {"SLURM_STEP_NUM_TASKS", "5"},
                                                   {"SLURM_STEP_NODELIST", "gpu[08-10],big"},
                                                   {"SLURM_STEP_TASKS_PER_NODE", "2,1(x3)"},
                                                   {"SLURM_JOB_ID", "100"},
                                                   {"SLURM_STEP_ID", "1"}};
  const Options options = from_environment(of(step));
  EXPECT_EQ(options.transport, "gloo");
  EXPECT_EQ(options.rank, 3);
  EXPECT_EQ(options.size, 5);
  EXPECT_EQ(options.rendezvous, "gpu08:21601");
  const auto place = cluster_from_environment(of(step));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->jobs.at("worker"),
            (std::vector<std::string>{"gpu08:8888", "gpu08:8889", "gpu09:8888", "gpu10:8888", "big:8888"}));
  EXPECT_EQ(place->task, 3);
  // Started by srun --mpi=pmix, processes are MPI's.
  auto with_pmix = step;
  with_pmix["PMIX_RANK"] = "3";
  EXPECT_EQ(from_environment(of(with_pmix)).transport, "mpi");
  // A batch script is no task, whatever else Slurm tells it.
  EXPECT_EQ(from_environment(of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "5"}})).transport, "alone");
}

TEST(Environment, OfTfConfig) {
  const std::string config =
      R"({"cluster": {"chief": ["c:1"], "worker": ["a:2", "b:3"], "ps": ["p:4"]}, "task": {"type": "worker", "index": 1}})";
  const Options options = from_environment(of({{"TF_CONFIG", config}}));
  EXPECT_EQ(options.transport, "gloo");
  EXPECT_EQ(options.rank, 2);
  EXPECT_EQ(options.size, 3);
  EXPECT_EQ(options.rendezvous, "c:1");
  const auto place = cluster_from_environment(of({{"TF_CONFIG", config}}));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->job, "worker");
  EXPECT_EQ(place->task, 1);
  EXPECT_EQ(place->jobs.at("ps"), std::vector<std::string>{"p:4"});
  // Parameter servers take no part in collectives.
  const std::string server =
      R"({"cluster": {"worker": ["a:2", "b:3"], "ps": ["p:4"]}, "task": {"type": "ps", "index": "0"}})";
  EXPECT_EQ(from_environment(of({{"TF_CONFIG", server}})).transport, "alone");
}

TEST(Environment, RefusesNonsense) {
  for (const auto& values : std::vector<std::map<std::string, std::string>>{
           {{"WEIR_RANK", "x"}},
           {{"WEIR_RANK", "2"}, {"WEIR_SIZE", "2"}, {"WEIR_RENDEZVOUS", "h:1"}},
           {{"WEIR_RANK", "0"}, {"WEIR_SIZE", "2"}},
           {{"TF_CONFIG", "{"}},
           {{"TF_CONFIG", R"({"cluster": {"worker": "a"}})"}},
           {{"TF_CONFIG", R"({"cluster": {"worker": ["a", "b"]}, "task": {"type": "worker", "index": 2}})"}},
           {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_NODELIST", "a[1-"}},
           {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_NODELIST", "a[9-1]"}}}) {
    EXPECT_THROW(from_environment(of(values)), Error);
  }
}

}  // namespace
}  // namespace weir::distributed
