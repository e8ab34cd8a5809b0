// Variables that parts of a model share by name, both ways of asking for them, and the mistake that everyone makes.

#include <weir/weir.h>

#include <cstdio>
#include <string>

using namespace weir;

Output layer(Output inputs) {
  Variable weights = inputs.graph().get_variable("weights", {3, 2}, {.initializer = constant_initializer(0.5)});
  return matmul(inputs, weights);
}

// What happens when a layer asks for a variable in a scope that cannot give it.
void ask(Output x, const std::string& scope_name, bool reuse) {
  try {
    VariableScope scope = x.graph().variable_scope(scope_name, {.reuse = reuse});
    layer(x);
  } catch (const Error& e) {
    const bool named = std::string(e.what()).find(scope_name + "/weights") != std::string::npos;
    std::printf("InvalidArgument names the variable: %s\n", named ? "True" : "False");
  }
}

void run() {
  Graph g;
  Output x = g.constant({{1.0, 2.0, 3.0}}, float32);
  Output first, second, third;
  {
    VariableScope scope = g.variable_scope("net");
    first = layer(x);
  }
  {  // One way: open the scope with reuse.
    VariableScope scope = g.variable_scope("net", {.reuse = true});
    second = layer(2 * x);
  }
  {  // The other: switch it on inside the scope.
    VariableScope scope = g.variable_scope("net");
    scope.reuse_variables();
    third = layer(3 * x);
  }

  for (const Variable& v : g.global_variables()) std::printf("['%s']\n", v.handle().name().c_str());
  std::printf("%s %s %s\n", first.name().c_str(), second.name().c_str(), third.name().c_str());
  ask(x, "net", false);
  ask(x, "other", true);

  Session session(g);
  session.run(g.global_variables_initializer());
  for (const Tensor& value : session.run({first, second, third})) {
    std::printf("[[%.1f, %.1f]]\n", static_cast<double>(value.data<float>()[0]),
                static_cast<double>(value.data<float>()[1]));
  }
}

int main(int argc, char**) {
  if (argc != 1) {
    std::fprintf(stderr, "usage: sharing\n");
    return 2;
  }
  try {
    run();
  } catch (const Error& e) {
    std::fprintf(stderr, "sharing: %s\n", e.what());
    return 1;
  }
}
