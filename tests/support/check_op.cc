#include "tests/support/check_op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/errors.h"
#include "devices/accelerator/accelerator_device.h"
#include "graph/node.h"
#include "graph/op.h"
#include "ops/evaluate.h"
#include "ops/types.h"
#include "tests/support/numbers.h"
#include "weir/gradients.h"
#include "weir/session.h"

namespace weir::testing {
namespace {

const std::vector<DType> kEveryType = {float32, float64, float16, bfloat16, int8,    int16,     int32,      int64,
                                       uint8,   uint16,  uint32,  uint64,   boolean, complex64, complex128, string};

double precision(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return std::ldexp(1.0, -10);
    case DType::BFloat16:
      return std::ldexp(1.0, -7);
    case DType::Float32:
    case DType::Complex64:
      return std::ldexp(1.0, -23);
    case DType::Float64:
    case DType::Complex128:
      return std::ldexp(1.0, -52);
    default:
      return 0;
  }
}

double tolerance_for(DType dtype, double asked) {
  double own = precision(dtype);
  return own == 0 ? 0 : std::max(asked, 8 * own);
}

// How the inputs stand in the graph that is checked.
enum class Form { Constant, Known, UnknownSizes, UnknownRank };
constexpr std::string_view kFormNames[] = {"constants", "placeholders of known shape", "placeholders of unknown sizes",
                                           "placeholders of unknown rank"};

Shape shape_in(Form form, const Shape& shape) {
  switch (form) {
    case Form::UnknownSizes:
      return Shape::unknown_dims(shape.rank());
    case Form::UnknownRank:
      return Shape::unknown();
    default:
      return shape;
  }
}

// A session must agree with the interpreter, to the bit when it rewrites nothing and within rounding when it does, and
// must do so again when its plan runs anew in used memory.
void check_sessions(Graph& graph, const std::vector<Output>& fetches, const FeedList& feeds, const Tensors& expected) {
  for (bool rewrites : {false, true}) {
    SCOPED_TRACE(rewrites ? "in a session" : "in a session without passes");
    Session session(graph, {.intra_op_parallelism_threads = 2,
                            .passes = rewrites ? PassOptions{} : PassOptions::none(),
                            .device_count = {{"GPU", 0}}});
    for (int repeat = 0; repeat < 2; ++repeat) {
      Tensors results = session.run(fetches, feeds);
      ASSERT_EQ(results.size(), expected.size());
      for (size_t i = 0; i < results.size(); ++i) {
        if (rewrites) {
          expect_near(results[i], expected[i], tolerance_for(results[i].dtype(), 0));
        } else {
          expect_same(results[i], expected[i]);
        }
      }
    }
  }
}

// Accelerators of the machine compute it too, if they have a kernel: like the CPU up to the rounding of their
// functions.
void check_accelerators(Graph& graph, const std::vector<Output>& fetches, const FeedList& feeds,
                        const Tensors& expected) {
  if (accelerator::machine_engines().empty()) return;
  SCOPED_TRACE("on the machine's accelerator");
  Session session(graph, {.passes = PassOptions::none(), .virtual_gpus = {.count = 0}});
  for (int repeat = 0; repeat < 2; ++repeat) {
    Tensors results = session.run(fetches, feeds);
    ASSERT_EQ(results.size(), expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      expect_near(results[i], expected[i], 16 * tolerance_for(results[i].dtype(), 0));
    }
  }
}

// Stateful operations keep their state in sessions, so only sessions can run them.
Tensors execute(Graph& graph, bool stateful, const std::vector<Output>& fetches, const FeedList& feeds) {
  if (stateful) return Session(graph, {.intra_op_parallelism_threads = 2}).run(fetches, feeds);
  Tensors results = interpret(fetches, feeds);
  check_sessions(graph, fetches, feeds, results);
  check_accelerators(graph, fetches, feeds, results);
  return results;
}

// One node with its inputs, and what to feed.
struct Built {
  Operation op;
  std::vector<Output> inputs, outputs;
  FeedList feeds;
};

// What OpCheck means for its row.
class Checker {
 public:
  explicit Checker(const OpCheck& check) : check_(check), op_(find_op(check.op)) {
    if (!op_) throw not_found("there is no operation {}", check.op);
    for (const char* candidate : {"T", "dtype"}) {
      if (type_attr_.empty() && op_->attr(candidate) && !check.attrs.has(candidate)) type_attr_ = candidate;
    }
    if (!check.type_attr.empty()) type_attr_ = check.type_attr;
    if (const AttrSpec* spec = op_->attr(type_attr_); !spec || spec->is_list) type_attr_.clear();
  }

  void check_types() {
    std::vector<DType> types = candidate_types();
    int checked = 0;
    for (DType dtype : types) {
      SCOPED_TRACE(type_attr_.empty() ? "" : type_attr_ + "=" + std::string(dtype_name(dtype)));
      std::optional<Tensors> inputs = inputs_in(dtype, check_.attrs, check_.inputs, /*tame=*/false);
      std::optional<Tensors> expected = inputs ? expected_in(dtype, *inputs) : std::nullopt;
      if (expected) {
        ++checked;
        check_values(dtype, *inputs, *expected);
      } else if (!check_.types.empty()) {
        ADD_FAILURE() << "the type cannot hold the numbers of this check";
      } else {
        check_runs(dtype);
      }
    }
    EXPECT_GT(checked, 0) << check_.op << ": no type has a kernel and holds the numbers of this check";
  }

  void check_gradients() {
    bool has_gradient = op_->def->gradient && op_->def->gradient != not_differentiable;
    if (!check_.gradient || !has_gradient || !op_->pure()) return;
    DType dtype = type_attr_.empty() || has_kernel(float64) ? float64 : float32;
    if (!type_attr_.empty() && !has_kernel(dtype)) return;
    std::optional<Tensors> inputs = inputs_in(dtype, check_.attrs, check_.inputs, false);
    if (!inputs) return;
    check_gradients_in(dtype, Form::Known, *inputs);
    if (check_.unknown_shapes) check_gradients_in(dtype, Form::UnknownRank, *inputs);
  }

  void check_bad(const BadInput& bad) {
    AttrMap attrs = check_.attrs;
    for (const auto& [name, value] : bad.attrs) attrs.set(name, value);
    DType dtype = bad.type;
    if (dtype == DType::Invalid && !type_attr_.empty()) {
      std::vector<DType> types = candidate_types();
      dtype = has_kernel(float32) || types.empty() ? float32 : types[0];
    }
    std::optional<Tensors> inputs = inputs_in(dtype, attrs, bad.inputs, false);
    ASSERT_TRUE(inputs) << "the bad input does not fit " << dtype_name(dtype);
    for (Form form : {Form::Constant, Form::UnknownRank}) {
      if (form == Form::UnknownRank && !check_.unknown_shapes) continue;
      SCOPED_TRACE("bad input as " + std::string(kFormNames[static_cast<size_t>(form)]));
      auto run = [&] {
        Graph graph;
        Built built = build(graph, dtype, attrs, *inputs, form);
        execute(graph, op_->stateful, built.outputs, built.feeds);
      };
      expect_error(run, bad.code, bad.message);
      auto run_in_session = [&] {
        Graph graph;
        Built built = build(graph, dtype, attrs, *inputs, form);
        Session(graph).run(built.outputs, built.feeds);
      };
      expect_error(run_in_session, bad.code, bad.message);
    }
  }

 private:
  // The types to check: those given, or all that the row allows and that have a kernel. One, any, when T is not swept.
  std::vector<DType> candidate_types() {
    if (type_attr_.empty()) return {float32};
    if (!check_.types.empty()) {
      for (DType dtype : check_.types) {
        EXPECT_TRUE(has_kernel(dtype)) << check_.op << " has no kernel for " << dtype_name(dtype);
      }
      return check_.types;
    }
    std::vector<DType> types;
    for (DType dtype : kEveryType) {
      if (has_kernel(dtype)) types.push_back(dtype);
    }
    return types;
  }

  bool has_kernel(DType dtype) {
    const AttrSpec* spec = op_->attr(type_attr_);
    if (!spec) return true;
    const auto& allowed = spec->allowed_types;
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), dtype) == allowed.end()) return false;
    if (op_->def->alias >= 0) return true;
    if (!op_->def->cpu.select) return false;
    AttrMap attrs = bound_attrs(dtype, check_.attrs, check_.inputs);
    return op_->def->cpu.select(NodeView(*op_, attrs, check_.op)) != nullptr;
  }

  // The argument of the signature that each flat input belongs to.
  std::vector<const ArgSpec*> input_specs(const AttrMap& attrs, size_t count) const {
    size_t singles = 0, lists = 0;
    for (const ArgSpec& arg : op_->inputs) ++(arg.is_list() ? lists : singles);
    size_t rest = lists && count > singles ? (count - singles) / lists : 0;
    std::vector<const ArgSpec*> specs;
    for (const ArgSpec& arg : op_->inputs) {
      size_t length = arg.is_list() ? rest : 1;
      if (const AttrValue* n = arg.number_attr.empty() ? nullptr : attrs.find(arg.number_attr)) {
        length = static_cast<size_t>(std::get<int64_t>(*n));
      }
      specs.insert(specs.end(), length, &arg);
    }
    if (specs.size() != count) throw invalid_argument("{} inputs are given, {} are wanted", count, specs.size());
    return specs;
  }

  static DType own_type(const In& in) {
    if (in.weak()) {
      DType dtype = in.value().dtype();
      return dtype == int64 ? int32 : dtype == float64 ? float32 : dtype;
    }
    return in.value().dtype();
  }

  DType input_type(const ArgSpec& spec, DType dtype, const AttrMap& attrs, const In& in) const {
    if (!spec.type_list_attr.empty()) return own_type(in);
    if (spec.type_attr.empty()) return spec.type;
    if (spec.type_attr == type_attr_) return dtype;
    if (const AttrValue* value = attrs.find(spec.type_attr)) return std::get<DType>(*value);
    const AttrSpec* attr = op_->attr(spec.type_attr);
    if (attr->default_value && in.weak()) return std::get<DType>(*attr->default_value);
    return own_type(in);
  }

  // Every attribute, so that a kernel can be chosen before there is a node.
  AttrMap bound_attrs(DType dtype, AttrMap attrs, const std::vector<In>& inputs) const {
    if (!type_attr_.empty()) attrs.set(type_attr_, dtype);
    std::vector<const ArgSpec*> specs = input_specs(attrs, inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ArgSpec& spec = *specs[i];
      if (!spec.type_attr.empty()) attrs.set(spec.type_attr, input_type(spec, dtype, attrs, inputs[i]));
      if (!spec.number_attr.empty()) {
        attrs.set(spec.number_attr, static_cast<int64_t>(std::count(specs.begin(), specs.end(), &spec)));
      }
    }
    for (const AttrSpec& spec : op_->attrs) {
      if (!attrs.has(spec.name) && spec.default_value) attrs.set(spec.name, *spec.default_value);
    }
    return attrs;
  }

  std::optional<Tensors> inputs_in(DType dtype, const AttrMap& attrs, const std::vector<In>& inputs, bool tame) const {
    std::vector<const ArgSpec*> specs = input_specs(attrs, inputs.size());
    Tensors values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      bool swept = !type_attr_.empty() && specs[i]->type_attr == type_attr_;
      const Tensor& given = inputs[i].value();
      bool number = given.dtype() != string;
      std::optional<Tensor> value =
          try_convert(tame && swept && number ? tamed(given) : given, input_type(*specs[i], dtype, attrs, inputs[i]));
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    return values;
  }

  std::vector<DType> output_types(DType dtype) const {
    AttrMap attrs = bound_attrs(dtype, check_.attrs, check_.inputs);
    std::vector<DType> types;
    for (const FlatArg& arg : flatten_args(op_->outputs, attrs)) types.push_back(arg.type);
    return types;
  }

  std::optional<Tensors> expected_in(DType dtype, const Tensors& inputs) const {
    Tensors wanted;
    if (check_.reference) {
      Tensors wide;
      for (const Tensor& input : inputs) {
        bool number = input.dtype() != string && input.dtype() != boolean && !is_complex(input.dtype());
        wide.push_back(number ? converted(input, float64) : input);
      }
      wanted = check_.reference(wide);
    } else {
      for (const In& output : check_.outputs) wanted.push_back(output.value());
    }
    std::vector<DType> types = output_types(dtype);
    if (types.size() != wanted.size()) {
      throw invalid_argument("{} outputs are expected; {} has {}", wanted.size(), check_.op, types.size());
    }
    Tensors expected;
    for (size_t i = 0; i < wanted.size(); ++i) {
      std::optional<Tensor> value = try_convert(wanted[i], types[i]);
      if (!value) return std::nullopt;
      expected.push_back(*value);
    }
    return expected;
  }

  Built build(Graph& graph, DType dtype, AttrMap attrs, const Tensors& inputs, Form form) const {
    Built built;
    if (!type_attr_.empty()) attrs.set(type_attr_, dtype);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto& fixed = check_.constant_inputs;
      bool constant = form == Form::Constant || std::count(fixed.begin(), fixed.end(), static_cast<int>(i));
      if (constant) {
        built.inputs.push_back(graph.constant(inputs[i]));
      } else {
        built.inputs.push_back(graph.placeholder(inputs[i].dtype(), shape_in(form, inputs[i].shape())));
        built.feeds.emplace_back(built.inputs.back(), inputs[i]);
      }
    }
    built.op = graph.add({.op = check_.op, .inputs = built.inputs, .attrs = std::move(attrs)});
    for (int i = 0; i < built.op.outputs(); ++i) built.outputs.push_back(built.op.output(i));
    return built;
  }

  Tensors run(DType dtype, const Tensors& inputs, Form form) const {
    Graph graph;
    Built built = build(graph, dtype, check_.attrs, inputs, form);
    Tensors results = execute(graph, op_->stateful, built.outputs, built.feeds);
    for (size_t i = 0; i < results.size(); ++i) {
      const Shape& inferred = built.outputs[i].shape();
      EXPECT_TRUE(inferred.compatible(results[i].shape()))
          << "output " << i << " was inferred as " << inferred.str() << " and came as " << results[i].shape().str();
      EXPECT_EQ(results[i].dtype(), built.outputs[i].dtype());
    }
    return results;
  }

  void check_values(DType dtype, const Tensors& inputs, const Tensors& expected) const {
    Tensors results = run(dtype, inputs, Form::Constant);
    ASSERT_EQ(results.size(), expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      SCOPED_TRACE("output " + std::to_string(i));
      expect_near(results[i], expected[i], tolerance_for(results[i].dtype(), check_.tolerance));
    }
    if (!check_.unknown_shapes) return;
    for (Form form : {Form::Known, Form::UnknownSizes, Form::UnknownRank}) {
      SCOPED_TRACE("inputs as " + std::string(kFormNames[static_cast<size_t>(form)]));
      Tensors same = run(dtype, inputs, form);
      ASSERT_EQ(same.size(), results.size());
      for (size_t i = 0; i < results.size(); ++i) expect_same(same[i], results[i]);
    }
  }

  // For types that cannot hold the numbers of the check: the kernel must still run, and may only object to values.
  void check_runs(DType dtype) const {
    std::optional<Tensors> inputs = inputs_in(dtype, check_.attrs, check_.inputs, /*tame=*/true);
    if (!inputs) return;
    try {
      run(dtype, *inputs, Form::Constant);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::InvalidArgument) << e.what();
    }
  }

  bool wants_gradient(size_t input, const Tensors& inputs) const {
    if (!is_floating(inputs[input].dtype())) return false;
    const auto& chosen = check_.gradient_inputs;
    return chosen.empty() || std::count(chosen.begin(), chosen.end(), static_cast<int>(input));
  }

  // d(sum of weights * outputs) / d(every element of every input), by rule and by central differences.
  void check_gradients_in(DType dtype, Form form, const Tensors& inputs) const {
    SCOPED_TRACE("gradient in " + std::string(dtype_name(dtype)) + ", inputs as " +
                 std::string(kFormNames[static_cast<size_t>(form)]));
    Graph graph;
    Built built = build(graph, dtype, check_.attrs, inputs, form);
    Tensors results = interpret(built.outputs, built.feeds);
    std::vector<Output> ys, weights;
    Tensors weight_values;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!is_floating(results[i].dtype())) continue;
      ys.push_back(built.outputs[i]);
      weight_values.push_back(
          converted(scattered(results[i].shape(), 0.5, 1.5, static_cast<uint32_t>(i + 7)), results[i].dtype()));
      weights.push_back(graph.constant(weight_values.back()));
    }
    if (ys.empty()) return;
    std::vector<size_t> wanted;
    std::vector<Output> xs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!wants_gradient(i, inputs)) continue;
      wanted.push_back(i);
      xs.push_back(built.inputs[i]);
    }
    auto weighted_sum = [&](const FeedList& feeds) {
      Tensors values = interpret(ys, feeds);
      double sum = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        std::vector<Wide> y = wide_values(values[i]), w = wide_values(weight_values[i]);
        for (size_t k = 0; k < y.size(); ++k) sum += y[k].real() * w[k].real();
      }
      return sum;
    };

    std::vector<Gradient> rules = gradients(ys, xs, {.grad_ys = weights});
    double step = dtype == float64 ? 1e-5 : 1e-2;
    double tolerance = dtype == float64 ? check_.gradient_tolerance : std::max(check_.gradient_tolerance, 1e-2);
    for (size_t k = 0; k < wanted.size(); ++k) {
      size_t at = wanted[k];
      SCOPED_TRACE("of input " + std::to_string(at));
      Tensor numeric(inputs[at].dtype(), inputs[at].shape());
      for (int64_t e = 0; e < numeric.elements(); ++e) {
        auto moved = [&](double by) {
          Tensor changed = inputs[at].copy();
          visit_type(changed.dtype(), [&]<class T>(T) {
            if constexpr (std::is_floating_point_v<T>) changed.mutable_data<T>()[e] += static_cast<T>(by);
          });
          FeedList feeds = built.feeds;
          for (auto& [output, value] : feeds) {
            if (output == built.inputs[at]) value = changed;
          }
          return weighted_sum(feeds);
        };
        double slope = (moved(step) - moved(-step)) / (2 * step);
        visit_type(numeric.dtype(), [&]<class T>(T) {
          if constexpr (std::is_floating_point_v<T>) numeric.mutable_data<T>()[e] = static_cast<T>(slope);
        });
      }
      if (rules[k].none()) {
        expect_near(converted(zeros(numeric.shape()), numeric.dtype()), numeric, tolerance);
        continue;
      }
      Output rule = rules[k].dense();
      Tensor value = execute(graph, /*stateful=*/false, {rule}, built.feeds)[0];
      EXPECT_TRUE(rule.shape().compatible(value.shape())) << rule.shape().str() << " came as " << value.shape().str();
      expect_near(value, numeric, tolerance);
    }
  }

  const OpCheck& check_;
  const Op* op_;
  std::string type_attr_;  // swept; empty when none is
};

}  // namespace

void check_op(const OpCheck& check, SourceLocation where) {
  ::testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "check_op of " + check.op);
  try {
    Checker checker(check);
    bool only_bad = check.inputs.empty() && check.outputs.empty() && !check.reference && !check.bad.empty();
    if (!only_bad) {
      checker.check_types();
      checker.check_gradients();
    }
    for (const BadInput& bad : check.bad) checker.check_bad(bad);
  } catch (const Error& e) {
    ADD_FAILURE() << code_name(e.code()) << ": " << e.what();
  }
}

Tensor zeros(const Shape& shape) { return Tensor::zeros(float64, shape); }

Tensor ramp(const Shape& shape, double first, double step) {
  Tensor t(float64, shape);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<double>()[i] = first + step * static_cast<double>(i);
  return t;
}

Tensor scattered(const Shape& shape, double low, double high, uint32_t seed) {
  Tensor t(float64, shape);
  uint32_t state = seed * 2654435761u + 12345u;
  for (int64_t i = 0; i < t.elements(); ++i) {
    state = state * 1664525u + 1013904223u;
    t.mutable_data<double>()[i] = low + (high - low) * static_cast<double>(state >> 8) / (1 << 24);
  }
  return t;
}

Tensor converted(const Tensor& value, DType dtype) {
  std::optional<Tensor> result = try_convert(value, dtype);
  if (!result) throw invalid_argument("{} cannot hold {}", dtype_name(dtype), value.str());
  return *result;
}

void expect_near(const Tensor& actual, const Tensor& expected, double tolerance) {
  ASSERT_EQ(dtype_name(actual.dtype()), dtype_name(expected.dtype()));
  ASSERT_EQ(actual.shape().str(), expected.shape().str());
  if (actual.dtype() == string || tolerance == 0) return expect_same(actual, expected);
  std::vector<Wide> a = wide_values(actual), b = wide_values(expected);
  auto near = [tolerance](double x, double y) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    return x == y || std::abs(x - y) <= tolerance * std::max(1.0, std::abs(y));
  };
  for (size_t i = 0; i < a.size(); ++i) {
    if (near(a[i].real(), b[i].real()) && near(a[i].imag(), b[i].imag())) continue;
    ADD_FAILURE() << "element " << i << " is " << a[i] << ", expected " << b[i] << "\n  actual   " << actual.str(64)
                  << "\n  expected " << expected.str(64);
    return;
  }
}

void expect_same(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(dtype_name(actual.dtype()), dtype_name(expected.dtype()));
  ASSERT_EQ(actual.shape().str(), expected.shape().str());
  bool same = false;
  if (actual.dtype() == string) {
    auto a = actual.data<std::string>(), b = expected.data<std::string>();
    same = std::equal(a.begin(), a.end(), b.begin());
  } else {
    same = std::memcmp(actual.raw(), expected.raw(), actual.bytes()) == 0;
  }
  EXPECT_TRUE(same) << "  actual   " << actual.str(64) << "\n  expected " << expected.str(64);
}

void expect_error(const std::function<void()>& run, Code code, const std::string& text) {
  try {
    run();
    ADD_FAILURE() << "no error came; expected " << code_name(code) << ": " << text;
  } catch (const Error& e) {
    EXPECT_EQ(code_name(e.code()), code_name(code)) << e.what();
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos)
        << "the message is: " << e.what() << "\n  it should mention: " << text;
  }
}

void expect_late(const std::function<void(std::chrono::milliseconds)>& run, const std::string& text) {
  std::string message;
  for (std::chrono::milliseconds timeout{4}; timeout < std::chrono::minutes(1); timeout *= 4) {
    try {
      run(timeout);
      ADD_FAILURE() << "the run ended in time; expected " << text;
      return;
    } catch (const Error& e) {
      message = e.what();
      ASSERT_EQ(code_name(e.code()), code_name(Code::DeadlineExceeded)) << message;
      if (message.find(text) != std::string::npos) return;
    }
  }
  ADD_FAILURE() << "the message is: " << message << "\n  it should mention: " << text;
}

}  // namespace weir::testing
