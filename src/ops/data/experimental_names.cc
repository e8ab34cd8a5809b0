#include <algorithm>

#include "ops/tables.h"

// Operations that TensorFlow 1.13 and 1.14 called Experimental: second names of the same.
namespace weir::ops {
namespace {

constexpr std::string_view kPrefix = "Experimental";
constexpr std::string_view kNames[] = {
    "ExperimentalAssertNextDataset",
    "ExperimentalAutoShardDataset",
    "ExperimentalBytesProducedStatsDataset",
    "ExperimentalCSVDataset",
    "ExperimentalChooseFastestDataset",
    "ExperimentalDatasetCardinality",
    "ExperimentalDatasetToTFRecord",
    "ExperimentalDenseToSparseBatchDataset",
    "ExperimentalDirectedInterleaveDataset",
    "ExperimentalGroupByReducerDataset",
    "ExperimentalGroupByWindowDataset",
    "ExperimentalIgnoreErrorsDataset",
    "ExperimentalIteratorGetDevice",
    "ExperimentalLMDBDataset",
    "ExperimentalLatencyStatsDataset",
    "ExperimentalMapAndBatchDataset",
    "ExperimentalMapDataset",
    "ExperimentalMatchingFilesDataset",
    "ExperimentalMaxIntraOpParallelismDataset",
    "ExperimentalNonSerializableDataset",
    "ExperimentalParallelInterleaveDataset",
    "ExperimentalParseExampleDataset",
    "ExperimentalPrivateThreadPoolDataset",
    "ExperimentalRandomDataset",
    "ExperimentalRebatchDataset",
    "ExperimentalScanDataset",
    "ExperimentalSetStatsAggregatorDataset",
    "ExperimentalStatsAggregatorHandle",
    "ExperimentalStatsAggregatorSummary",
    "ExperimentalSleepDataset",
    "ExperimentalSlidingWindowDataset",
    "ExperimentalTakeWhileDataset",
    "ExperimentalThreadPoolDataset",
    "ExperimentalThreadPoolHandle",
    "ExperimentalUnbatchDataset",
    "ExperimentalUniqueDataset",
};

}  // namespace

const std::vector<OpDef>& experimental_data_ops() {
  static const std::vector<OpDef> rows = [] {
    std::vector<OpDef> doubles;
    for (const std::string_view name : kNames) {
      OpDef row = *std::ranges::find(data_ops(), name.substr(kPrefix.size()), &OpDef::name);
      row.name = name;
      doubles.push_back(row);
    }
    return doubles;
  }();
  return rows;
}

}  // namespace weir::ops
