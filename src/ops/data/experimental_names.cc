#include "ops/tables.h"

// Operations that TensorFlow 1.13 and 1.14 called Experimental: second names of the same.
namespace weir::ops {

#define DOUBLES(row)                                                                                                   \
  row(assert_next_dataset, "ExperimentalAssertNextDataset") row(auto_shard_dataset, "ExperimentalAutoShardDataset")    \
      row(bytes_produced_stats_dataset, "ExperimentalBytesProducedStatsDataset") row(                                  \
          csv_dataset, "ExperimentalCSVDataset") row(choose_fastest_dataset, "ExperimentalChooseFastestDataset")       \
          row(dataset_cardinality, "ExperimentalDatasetCardinality") row(                                              \
              dataset_to_tf_record, "ExperimentalDatasetToTFRecord") row(dense_to_sparse_batch_dataset,                \
                                                                         "ExperimentalDenseToSparseBatchDataset")      \
              row(directed_interleave_dataset, "ExperimentalDirectedInterleaveDataset") row(                           \
                  group_by_reducer_dataset, "ExperimentalGroupByReducerDataset")                                       \
                  row(group_by_window_dataset, "ExperimentalGroupByWindowDataset") row(                                \
                      ignore_errors_dataset, "ExperimentalIgnoreErrorsDataset")                                        \
                      row(iterator_get_device, "ExperimentalIteratorGetDevice") row(                                   \
                          lmdb_dataset, "ExperimentalLMDBDataset") row(latency_stats_dataset,                          \
                                                                       "ExperimentalLatencyStatsDataset")              \
                          row(map_and_batch_dataset, "ExperimentalMapAndBatchDataset") row(                            \
                              map_dataset, "ExperimentalMapDataset") row(matching_files_dataset,                       \
                                                                         "ExperimentalMatchingFilesDataset")           \
                              row(max_intra_op_parallelism_dataset, "ExperimentalMaxIntraOpParallelismDataset") row(   \
                                  non_serializable_dataset, "ExperimentalNonSerializableDataset")                      \
                                  row(parallel_interleave_dataset, "ExperimentalParallelInterleaveDataset") row(       \
                                      parse_example_dataset, "ExperimentalParseExampleDataset")                        \
                                      row(private_thread_pool_dataset, "ExperimentalPrivateThreadPoolDataset") row(    \
                                          random_dataset, "ExperimentalRandomDataset")                                 \
                                          row(rebatch_dataset, "ExperimentalRebatchDataset") row(                      \
                                              scan_dataset,                                                            \
                                              "ExperimentalScanDataset") row(set_stats_aggregator_dataset,             \
                                                                             "ExperimentalSetStatsAggregatorDataset")  \
                                              row(stats_aggregator_handle, "ExperimentalStatsAggregatorHandle")        \
                                                  row(stats_aggregator_summary, "ExperimentalStatsAggregatorSummary")  \
                                                      row(sleep_dataset, "ExperimentalSleepDataset") row(              \
                                                          sliding_window_dataset, "ExperimentalSlidingWindowDataset")  \
                                                          row(take_while_dataset, "ExperimentalTakeWhileDataset") row( \
                                                              thread_pool_dataset, "ExperimentalThreadPoolDataset")    \
                                                              row(thread_pool_handle, "ExperimentalThreadPoolHandle")  \
                                                                  row(unbatch_dataset, "ExperimentalUnbatchDataset")   \
                                                                      row(unique_dataset, "ExperimentalUniqueDataset")

#define DECLARE(op, name) OpDef op##_op();
#define DEFINE(op, double_name)    \
  OpDef experimental_##op##_op() { \
    OpDef row = op##_op();         \
    row.name = double_name;        \
    return row;                    \
  }
DOUBLES(DECLARE)
DOUBLES(DEFINE)
#undef DECLARE
#undef DEFINE
#undef DOUBLES

}  // namespace weir::ops
