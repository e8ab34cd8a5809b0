#pragma once

#include <weir/weir.h>

#include <memory>
#include <string>
#include <vector>

// What the programs that train a model share: the model stands in a file of its own, and so `weir train` has it too.
namespace weir::examples {

struct TrainingOptions {
  std::string data_dir;
  std::string train_dir = {};  // of checkpoints and events; empty: none are written
  int64_t batch_size = 0;      // of each tower
  int64_t seed = 1;
  int64_t checkpoint_every = 1000, summary_every = 100;  // steps
  int64_t towers = 1;
  SessionOptions session = {};
};

// A model on its way: its graph, its session, and the folder that it is saved in. When the folder has a checkpoint,
// training goes on from there. For one thread.
class Training {
 public:
  virtual ~Training() = default;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  int64_t step() const { return step_; }  // steps done, those of earlier runs included
  int64_t batch_size() const { return options_.batch_size * options_.towers; }

  // Trains with the next batch and gives the loss. Every so many steps it writes a summary, and a checkpoint. Throws
  // what a run throws, and InvalidArgument when the loss is no number any more.
  float run_step();
  // Whether SIGTERM came: whoever ends now has the last step saved.
  bool should_stop() { return session_->should_stop(); }
  // Writes a checkpoint, unless this step has one, and gives its path; "" when nothing is to be written.
  std::string save();
  // The share of the test pictures that the model knows.
  virtual double test_accuracy() = 0;

 protected:
  // What a model consists of. The feeds, if it has any, come from next_batch().
  struct Parts {
    std::vector<Output> feeds = {};
    Output loss, summary;
    Operation train;
    Variable global_step;               // int64
    std::vector<Operation> start = {};  // what begins the input, whether training begins or goes on
  };

  explicit Training(const TrainingOptions& options) : options_(options) {}
  // Called once, when the graph is built: makes the session and begins, or goes on.
  void begin(const Parts& parts);
  virtual void next_batch(std::vector<Tensor>& /*feeds*/) {}

  const TrainingOptions options_;
  Graph graph_;
  std::unique_ptr<train::MonitoredTrainingSession> session_;

 private:
  Parts parts_;
  std::vector<Feed> feeds_;
  int64_t step_ = 0;
  int64_t saved_step_ = -1;
};

}  // namespace weir::examples
