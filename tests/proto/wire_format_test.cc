// Compares every message and enum of proto/ with TensorFlow 1.15's, recorded in tests/data/protos-1.15.5.tsv as
// (message, field, number, type) and (enum, value, number, "value").

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "proto/checkpoint_state.pb.h"
#include "proto/config.pb.h"
#include "proto/control_flow.pb.h"
#include "proto/event.pb.h"
#include "proto/example.pb.h"
#include "proto/meta_graph.pb.h"
#include "proto/queue_runner.pb.h"
#include "proto/saved_tensor_slice.pb.h"
#include "proto/tensor_bundle.pb.h"

namespace weir {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

// Names inside the package: weir.proto.GraphDef -> GraphDef. Protobuf's own messages keep theirs.
std::string local_name(const std::string& full_name) {
  return full_name.starts_with("weir.proto.") ? full_name.substr(std::string("weir.proto.").size()) : full_name;
}

std::string type_name(const FieldDescriptor& field) {
  std::string type = field.message_type() ? local_name(field.message_type()->full_name())
                     : field.enum_type()  ? local_name(field.enum_type()->full_name())
                                          : field.type_name();
  return field.is_repeated() ? "repeated " + type : type;
}

using Rows = std::set<std::string>;

void add_row(Rows& rows, const std::string& owner, const std::string& name, int number, const std::string& type) {
  rows.insert(owner + "\t" + name + "\t" + std::to_string(number) + "\t" + type);
}

void add_enum(Rows& rows, const EnumDescriptor& type) {
  for (int i = 0; i < type.value_count(); ++i) {
    add_row(rows, local_name(type.full_name()), type.value(i)->name(), type.value(i)->number(), "value");
  }
}

void add_message(Rows& rows, const Descriptor& message) {
  for (int i = 0; i < message.enum_type_count(); ++i) add_enum(rows, *message.enum_type(i));
  for (int i = 0; i < message.nested_type_count(); ++i) add_message(rows, *message.nested_type(i));
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    add_row(rows, local_name(message.full_name()), field.name(), field.number(), type_name(field));
  }
}

void add_file(Rows& rows, std::set<std::string>& files, const FileDescriptor& file) {
  if (file.name().starts_with("google/protobuf/") || !files.insert(file.name()).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) add_file(rows, files, *file.dependency(i));
  for (int i = 0; i < file.enum_type_count(); ++i) add_enum(rows, *file.enum_type(i));
  for (int i = 0; i < file.message_type_count(); ++i) add_message(rows, *file.message_type(i));
}

TEST(Protos, EveryFieldHasTensorFlowsNumberAndType) {
  Rows recorded;
  std::ifstream table(WEIR_SOURCE_DIR "/tests/data/protos-1.15.5.tsv");
  for (std::string line; std::getline(table, line);) recorded.insert(line);
  ASSERT_FALSE(recorded.empty());

  Rows ours;
  std::set<std::string> files;
  for (const Descriptor* message :
       {proto::ConfigProto::descriptor(), proto::MetaGraphDef::descriptor(), proto::CheckpointState::descriptor(),
        proto::BundleEntryProto::descriptor(), proto::SavedTensorSlices::descriptor(),
        proto::QueueRunnerDef::descriptor(), proto::CondContextDef::descriptor(), proto::Event::descriptor(),
        proto::Example::descriptor()}) {
    add_file(ours, files, *message->file());
  }
  for (const std::string& row : recorded) EXPECT_TRUE(ours.contains(row)) << "missing: " << row;
  for (const std::string& row : ours) EXPECT_TRUE(recorded.contains(row)) << "not in TensorFlow: " << row;
}

}  // namespace
}  // namespace weir
