// Any bytes as any message of the services: the first byte chooses the method.
#include "distributed/service.h"
#include "tests/support/loopback.h"

using namespace weir::distributed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto transport = make_loopback();
  static const Jobs jobs = {{"local", {{0, "local0"}}}};
  static auto* service = [] {
    ServiceOptions options;
    options.master = {.jobs = jobs, .job = "local", .task = 0};
    options.worker.task = options.worker.session.task = task_name("local", 0);
    options.worker.session.intra_op_parallelism_threads = 1;
    options.worker.untrusted_clients = true;
    options.max_sessions = 4;
    return new Service(options, std::make_shared<Peers>(jobs, options.worker.task, transport, ConnectOptions()));
  }();
  static const auto listener =
      transport->listen({.address = "local0"}, [](const std::shared_ptr<Incoming>& call) { service->handle(call); });
  static const char* const kMethods[] = {"CreateSession", "ExtendSession", "PartialRunSetup",
                                         "RunStep",       "CloseSession",  "ListDevices",
                                         "MakeCallable",  "RunCallable",   "ReleaseCallable"};
  static const char* const kWorkerMethods[] = {
      "GetStatus", "CreateWorkerSession", "DeleteWorkerSession", "RegisterGraph", "DeregisterGraph",
      "RunGraph",  "CleanupGraph",        "CleanupAll",          "RecvTensor",    "Logging"};
  if (size == 0) return 0;
  constexpr size_t kMasters = std::size(kMethods), kAll = kMasters + std::size(kWorkerMethods);
  const size_t chosen = data[0] % kAll;
  const std::string method =
      chosen < kMasters ? kMasterService + kMethods[chosen] : kWorkerService + kWorkerMethods[chosen - kMasters];
  const Message message(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  transport->connect("local0", {})
      ->call(method, message, {.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50)});
  return 0;
}
