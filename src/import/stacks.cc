#include <algorithm>
#include <map>

#include "base/errors.h"
#include "import/plan.h"

namespace weir {
namespace {

// The second version is that of TensorFlow 1.1 and later; the first has a handle by reference.
bool is(const std::string& op, const std::string& name) { return op == name || op == name + "V2"; }

// One push and one pop, each in some loop or branch, share a stack. As lists are values, the list goes into the loops
// around the push as one more variable, comes out of them, and goes on into the loops around the pop.
class Stacks {
 public:
  explicit Stacks(ImportPlan& plan) : plan_(plan) {}

  void run() {
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      if (!plan_.nodes[i].removed && is(plan_.nodes[i].def->op(), "Stack")) {
        stacks_[static_cast<int>(i)];
        stack_behind_[static_cast<int>(i)] = static_cast<int>(i);
      }
    }
    if (stacks_.empty()) return;
    find_users();
    for (const auto& [index, users] : stacks_) convert(index, users);
  }

 private:
  struct Users {
    int push = -1, pop = -1;
  };

  ImportNode& node(int index) { return plan_.nodes[static_cast<size_t>(index)]; }
  ImportBody& body(int index) { return plan_.bodies[static_cast<size_t>(index)]; }

  [[noreturn]] void fail(int index, const std::string& message) {
    throw import_error(node(index), Code::Unimplemented, message);
  }

  // The stack that a node gives the handle of: itself, or that which it passes on; -1.
  int stack_of(const ImportSource& source) {
    std::vector<int> passed;
    int at = source.node;
    while (at >= 0 && !stack_behind_.contains(at)) {
      passed.push_back(at);
      const bool passes = node(at).def->op() == "Identity" && node(at).inputs.size() == 1;
      at = passes && passed.size() < plan_.nodes.size() ? node(at).inputs[0].node : -1;
    }
    const int stack = at < 0 ? -1 : stack_behind_[at];
    for (int index : passed) stack_behind_[index] = stack;
    return stack;
  }

  void find_users() {
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      const int index = static_cast<int>(i);
      if (node(index).removed) continue;
      const std::string& op = node(index).def->op();
      for (const ImportSource& input : node(index).inputs) {
        const int stack = stack_of(input);
        if (stack < 0) continue;
        const bool first = &input == &node(index).inputs[0];
        int* user = is(op, "StackPush") && first  ? &stacks_[stack].push
                    : is(op, "StackPop") && first ? &stacks_[stack].pop
                                                  : nullptr;
        if (user && *user < 0) {
          *user = index;
        } else if (op != "Identity") {
          fail(index, fmt::format("the stack '{}' is used otherwise than by one push and one pop", node(stack).name));
        } else {
          passing_.push_back(index);
        }
      }
    }
    for (const ImportBody& part : plan_.bodies) {
      for (const ImportSource& result : part.results) {
        if (const int stack = stack_of(result); stack >= 0) fail(stack, "a stack is a result");
      }
    }
  }

  void become(int index, const char* op, proto::DataType type) {
    proto::NodeDef& def = plan_.made.emplace_back();
    def.set_op(op);
    ImportPlan::set_type(def, "element_dtype", type);
    node(index).def = &def;
  }

  int add_minus_one(int stack, const char* name) {
    proto::NodeDef* def = nullptr;
    const int made = plan_.add("Const", node(stack).name + "/" + name, node(stack).body, &def);
    ImportPlan::set_type(*def, "dtype", proto::DT_INT32);
    proto::TensorProto& tensor = *(*def->mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(proto::DT_INT32);
    tensor.mutable_tensor_shape();
    tensor.add_int_val(-1);
    return made;
  }

  void convert(int stack, const Users& users) {
    const proto::AttrValue* type = import_attr(node(stack), "elem_type");
    if (!type || type->value_case() != proto::AttrValue::kType) fail(stack, "attribute 'elem_type' is missing");
    const proto::DataType elements = type->type();
    const int any_shape = add_minus_one(stack, "element_shape"), any_number = add_minus_one(stack, "max_num_elements");
    become(stack, "EmptyTensorList", elements);
    ImportPlan::set_type(plan_.made.back(), "shape_type", proto::DT_INT32);
    node(stack).inputs = {{.node = any_shape}, {.node = any_number}};
    ImportSource list{.node = stack};
    if (users.push >= 0) {
      if (node(users.push).inputs.size() != 2) fail(users.push, "a push has two inputs");
      const ImportSource element = node(users.push).inputs[1];
      replace({.node = users.push}, element);
      become(users.push, "TensorListPushBack", elements);
      list = pass(list, stack, users.push, [&](const ImportSource& inner) {
        node(users.push).inputs = {inner, element};
        return ImportSource{.node = users.push};
      });
    }
    if (users.pop >= 0) {
      replace({.node = users.pop}, {.node = users.pop, .port = 1});
      become(users.pop, "TensorListPopBack", elements);
      pass(list, stack, users.pop, [&](const ImportSource& inner) {
        node(users.pop).inputs = {inner, {.node = any_shape}};
        return ImportSource{.node = users.pop};
      });
    }
    for (int index : passing_) {
      if (stack_behind_[index] == stack) node(index).removed = true;
    }
    for (ImportNode& reader : plan_.nodes) {
      std::erase_if(reader.controls, [&](const ImportSource& c) { return c.node >= 0 && node(c.node).removed; });
    }
  }

  void replace(const ImportSource& from, const ImportSource& to) {
    for (ImportNode& reader : plan_.nodes) std::replace(reader.inputs.begin(), reader.inputs.end(), from, to);
    for (ImportBody& part : plan_.bodies) std::replace(part.results.begin(), part.results.end(), from, to);
  }

  // Leads a list from the body of `stack` to that of `user` and back; gives the list as it came out.
  template <class Use>
  ImportSource pass(const ImportSource& list, int stack, int user, const Use& use) {
    std::vector<int> path;  // innermost first
    for (int at = node(user).body; at != node(stack).body; at = body(at).outer) {
      if (at == kTopLevel || node(body(at).owner).functional) fail(user, "the stack is not made around it");
      path.push_back(at);
    }
    return pass_into(list, path, use);
  }

  template <class Use>
  ImportSource pass_into(const ImportSource& list, std::vector<int>& path, const Use& use) {
    if (path.empty()) return use(list);
    const int part = path.back();
    path.pop_back();
    const int owner = body(part).owner;
    if (!body(part).is_loop) {
      const ImportSource out = pass_into(list, path, use);
      for (int branch : node(owner).bodies) body(branch).results.push_back(branch == part ? out : list);
    } else {
      if (part != node(owner).bodies[1]) fail(owner, "the condition of the loop uses a stack");
      for (int inner : node(owner).bodies) body(inner).parameters.push_back({.node = add_variable(owner, inner)});
      const ImportSource out = pass_into(body(part).parameters.back(), path, use);
      node(owner).inputs.push_back(list);
      body(part).results.push_back(out);
    }
    return {.node = owner, .port = static_cast<int>(body(part).results.size()) - 1};
  }

  int add_variable(int owner, int part) {
    proto::NodeDef* def = nullptr;
    const int made = plan_.add("Placeholder", node(owner).name + "/list", part, &def);
    ImportPlan::set_type(*def, "dtype", proto::DT_VARIANT);
    (*def->mutable_attr())["shape"].mutable_shape();
    return made;
  }

  ImportPlan& plan_;
  std::map<int, Users> stacks_;
  std::unordered_map<int, int> stack_behind_;  // of nodes that give a handle
  std::vector<int> passing_;                   // Identities of handles
};

}  // namespace

void import_stacks(ImportPlan& plan) { Stacks(plan).run(); }

}  // namespace weir
