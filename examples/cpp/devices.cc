// Where operations run: device scopes inside each other, functions that choose, and a device that is not there.
//
//   devices [--virtual-gpus 2]

#include <weir/device.h>
#include <weir/weir.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace weir;

void run(int gpus) {
  SessionOptions options{.virtual_gpus = {.count = gpus}};
  for (const DeviceInfo& device : list_local_devices(options)) {
    std::printf("%s\n", device.name.substr(device.name.find("/device:")).c_str());
  }

  Graph graph;
  Output a, b, c, d, e, largest;
  {
    Scope cpu = graph.device("/cpu:0");
    a = graph.placeholder(float32, {2, 3}, "a");
    b = graph.placeholder(float32, {3, 2}, "b");
  }
  {
    Scope task = graph.device("/job:localhost/task:0");
    {
      Scope gpu = graph.device("/gpu:0");  // adds to what the scope around it says
      c = matmul(a, b, {}, "c");
    }
    Scope gpu = graph.device("/gpu:1");
    d = matmul(b, a, {}, "d");
  }
  {
    Scope by_type = graph.device([](const NodeArgs& node) { return node.op == "Max" ? "/cpu:0" : "/gpu:1"; });
    largest = reduce_max(c, {}, "largest");
    e = add(largest, reduce_sum(d, {}, "sum"), "e");
  }
  Output f = negative(e, "f");  // goes where there is room: to the first GPU
  for (const Output& output : {a, c, d, largest, e, f}) {
    const std::string& device = output.op().device();
    std::printf("%s: %s\n", output.op().name().c_str(), device.empty() ? "anywhere" : device.c_str());
  }

  const std::vector<Feed> feeds = {{a, Tensor::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3})},
                                   {b, Tensor::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2})}};
  {
    SessionOptions logging = options;
    logging.log_device_placement = true;  // says on stderr what went where
    Session session(graph, logging);
    const Tensor product = session.run(c, feeds);
    auto at = [&](size_t i) { return static_cast<double>(product.data<float>()[i]); };
    std::printf("c = [[%.1f, %.1f], [%.1f, %.1f]]\n", at(0), at(1), at(2), at(3));
    std::printf("f = %g\n", static_cast<double>(session.run(f, feeds).scalar<float>()));
  }

  Output g;
  {
    Scope gpu = graph.device("/gpu:7");
    g = exp(e * 0.f, "g");
  }
  try {
    Session(graph, options).run(g, feeds);
  } catch (const Error& error) {
    const bool says_so = std::string(error.what()).find("available devices are") != std::string::npos;
    std::printf("there is no /device:GPU:7: %s\n", says_so ? "True" : "False");
  }
  options.allow_soft_placement = true;
  std::printf("somewhere else g = %g\n", static_cast<double>(Session(graph, options).run(g, feeds).scalar<float>()));
}

int main(int argc, char** argv) {
  if (argc != 1 && (argc != 3 || std::string(argv[1]) != "--virtual-gpus")) {
    std::fprintf(stderr, "usage: devices [--virtual-gpus N]\n");
    return 2;
  }
  try {
    run(argc == 3 ? std::atoi(argv[2]) : 2);
  } catch (const Error& e) {
    std::fprintf(stderr, "devices: %s\n", e.what());
    return 1;
  }
}
