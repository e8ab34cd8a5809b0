// The composed functions of tf.nn, tf.losses and their like: bindings of the C++ API, in the manner of composed.cc.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "building.h"

namespace weir::python {
namespace {

using H = nb::handle;
using G = GraphObject&;

// A node's name and the scope that a composed function opens: `usual` when the program gives none.
struct Label {
  Label(H name, const char* usual_name) : text(to_name(name)), usual(usual_name) {}
  std::string text;
  const char* usual;
};

// The argument that tells a composed function its graph. A value becomes a constant inside the function's scope, which
// is opened here and entered again there.
In anchor(G graph, H value, const char* name, Label& label) {
  if (find_tensor(value)) return to_in(graph, value);
  label.text = scope_name(graph, label.text, label.usual);
  Scope scope = graph.name_scope(label.text);
  return to_output(graph, value, DType::Invalid, name);
}

std::optional<In> to_optional_value(G graph, H value) {
  if (value.is_none()) return std::nullopt;
  return to_value(graph, value);
}

nb::object pair(const nn::Moments& moments) { return nb::make_tuple(wrap(moments.mean), wrap(moments.variance)); }

// ---- Losses.

template <class Options>
Options loss_options(G graph, H weights, const Label& label, H collection) {
  Options options;
  options.weights = to_value(graph, weights);
  options.scope = label.text;
  options.collection = to_name(collection);
  return options;
}

losses::LossOptions reduced_loss_options(G graph, H weights, const Label& label, H collection, int reduction) {
  auto options = loss_options<losses::LossOptions>(graph, weights, label, collection);
  options.reduction = static_cast<losses::Reduction>(reduction);
  return options;
}

// A loss of labels and predictions; `call(labels, predictions, number, options)` with its own number: a delta, an axis.
template <class Call>
void def_loss(nb::module_& m, const char* name, const char* usual, Call call) {
  def(m, name, [usual, call](G g, H labels, H predictions, H number, H weights, H scope, H collection, int reduction) {
    return build(g, {predictions, labels, weights}, [&](G graph) {
      Label label(scope, usual);
      const In x = find_tensor(labels) ? to_value(graph, predictions) : anchor(graph, predictions, "Const", label);
      const auto options = reduced_loss_options(graph, weights, label, collection, reduction);
      return wrap(call(to_value(graph, labels), x, number.is_none() ? 0.0 : to_double(number, "number"), options));
    });
  });
}

void bind_losses(nb::module_& m) {
  using losses::LossOptions;
  def(m, "assert_broadcastable", [](G g, H weights, H values) {
    return build(g, {values, weights}, [&](G graph) {
      const In of = first_in(graph, values, "values");
      return wrap(losses::assert_broadcastable(to_in(graph, weights), of));
    });
  });
  def(m, "broadcast_weights", [](G g, H weights, H values) {
    return build(g, {values, weights}, [&](G graph) {
      const In of = first_in(graph, values, "values");
      return wrap(losses::broadcast_weights(to_in(graph, weights), of));
    });
  });
  def(m, "compute_weighted_loss", [](G g, H values, H weights, H scope, H collection, int reduction) {
    return build(g, {values, weights}, [&](G graph) {
      Label label(scope, "weighted_loss");
      const In in = anchor(graph, values, "Const", label);
      const auto options = reduced_loss_options(graph, weights, label, collection, reduction);
      return wrap(losses::compute_weighted_loss(in, options));
    });
  });
  def_loss(m, "absolute_difference", "absolute_difference",
           [](const In& z, const In& x, double, const LossOptions& o) { return losses::absolute_difference(z, x, o); });
  def_loss(m, "mean_squared_error", "mean_squared_error",
           [](const In& z, const In& x, double, const LossOptions& o) { return losses::mean_squared_error(z, x, o); });
  def_loss(m, "cosine_distance", "cosine_distance_loss",
           [](const In& z, const In& x, double axis, const LossOptions& o) {
             return losses::cosine_distance(z, x, static_cast<int>(axis), o);
           });
  def_loss(m, "hinge_loss", "hinge_loss",
           [](const In& z, const In& x, double, const LossOptions& o) { return losses::hinge_loss(z, x, o); });
  def_loss(m, "huber_loss", "huber_loss", [](const In& z, const In& x, double delta, const LossOptions& o) {
    return losses::huber_loss(z, x, static_cast<float>(delta), o);
  });
  def_loss(m, "log_loss", "log_loss", [](const In& z, const In& x, double epsilon, const LossOptions& o) {
    return losses::log_loss(z, x, static_cast<float>(epsilon), o);
  });
  def_loss(m, "sigmoid_cross_entropy", "sigmoid_cross_entropy_loss",
           [](const In& z, const In& x, double smoothing, const LossOptions& o) {
             return losses::sigmoid_cross_entropy(z, x, static_cast<float>(smoothing), o);
           });
  def_loss(m, "softmax_cross_entropy", "softmax_cross_entropy_loss",
           [](const In& z, const In& x, double smoothing, const LossOptions& o) {
             return losses::softmax_cross_entropy(z, x, static_cast<float>(smoothing), o);
           });
  def_loss(m, "sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_loss",
           [](const In& z, const In& x, double, const LossOptions& o) {
             return losses::sparse_softmax_cross_entropy(z, x, o);
           });
  def(m, "mean_pairwise_squared_error", [](G g, H labels, H predictions, H weights, H scope, H collection) {
    return build(g, {predictions, labels, weights}, [&](G graph) {
      Label label(scope, "mean_pairwise_squared_error");
      const In x = find_tensor(labels) ? to_value(graph, predictions) : anchor(graph, predictions, "Const", label);
      const auto options = loss_options<losses::PairwiseLossOptions>(graph, weights, label, collection);
      return wrap(losses::mean_pairwise_squared_error(to_value(graph, labels), x, options));
    });
  });
}

// ---- Normalisation and statistics.

void bind_statistics(nb::module_& m) {
  def(m, "moments", [](G g, H x, H axes, bool keep_dims, H name) {
    return build(g, {x}, [&](G graph) {
      Label label(name, "moments");
      const In in = anchor(graph, x, "x", label);
      return pair(nn::moments(in, to_ints(axes, "axes"), {keep_dims}, label.text));
    });
  });
  def(m, "sufficient_statistics", [](G g, H x, H axes, H shift, bool keep_dims, H name) {
    return build(g, {x}, [&](G graph) {
      Label label(name, "sufficient_statistics");
      const In in = anchor(graph, x, "x", label);
      auto [count, sum, squares, moved] = nn::sufficient_statistics(
          in, to_ints(axes, "axes"), {to_optional_value(graph, shift), keep_dims}, label.text);
      return nb::make_tuple(wrap(count), wrap(sum), wrap(squares), wrap(moved));
    });
  });
  def(m, "normalize_moments", [](G g, H counts, H mean, H variance, H shift, H name) {
    return build(g, {mean, variance, counts}, [&](G graph) {
      Label label(name, "normalize");
      const In sum = find_tensor(variance) ? to_in(graph, mean) : anchor(graph, mean, "mean_ss", label);
      return pair(nn::normalize_moments(to_in(graph, counts), sum, to_in(graph, variance), to_optional_in(graph, shift),
                                        label.text));
    });
  });
  def(m, "weighted_moments", [](G g, H x, H axes, H weights, bool keep_dims, H name) {
    return build(g, {x, weights}, [&](G graph) {
      Label label(name, "weighted_moments");
      const In in = anchor(graph, x, "x", label);
      return pair(nn::weighted_moments(in, to_ints(axes, "axes"), to_value(graph, weights), {keep_dims}, label.text));
    });
  });
  def(m, "batch_normalization", [](G g, H x, H mean, H variance, H offset, H scale, float epsilon, H name) {
    return build(g, {x, mean, variance}, [&](G graph) {
      Label label(name, "batchnorm");
      const In in = anchor(graph, x, "x", label);
      const DType dtype = in.output().dtype();
      auto optional = [&](H value) {
        return value.is_none() ? std::optional<In>() : std::optional<In>(to_in(graph, value, dtype));
      };
      Output center = to_output(graph, mean, dtype, "mean"), spread = to_output(graph, variance, dtype, "variance");
      return wrap(
          nn::batch_normalization(in, center, spread, {optional(offset), optional(scale), epsilon}, label.text));
    });
  });
  def(m, "l2_normalize", [](G g, H x, H axis, float epsilon, H name) {
    return build(g, {x, axis}, [&](G graph) {
      Label label(name, "l2_normalize");
      const In in = anchor(graph, x, "x", label);
      return wrap(nn::l2_normalize(in, to_axes(graph, axis), epsilon, label.text));
    });
  });
  def(m, "zero_fraction", [](G g, H value, H name) {
    return build(g, {value}, [&](G graph) {
      Label label(name, "zero_fraction");
      const In in = anchor(graph, value, "value", label);
      return wrap(nn::zero_fraction(in, label.text));
    });
  });
}

// ---- Layers and losses of tf.nn.

template <Output (*function)(const In&, const In&, const In&, std::string_view)>
void def_layer(nb::module_& m, const char* name) {
  def(m, name, [name](G g, H x, H weights, H biases, H node) {
    return build(g, {x, weights, biases}, [&](G graph) {
      Label label(node, name);
      const In in = anchor(graph, x, "x", label);
      const DType dtype = in.output().dtype();
      return wrap(function(in, to_in(graph, weights, dtype), to_in(graph, biases, dtype), label.text));
    });
  });
}

nn::DepthwiseConv2dOptions depthwise_options(H strides, H padding, H rate, H data_format) {
  return {to_ints(strides, "strides"), to_name(padding), to_ints(rate, "rate"), to_name(data_format)};
}

nn::SampledLossOptions sampled_options(G graph, nb::dict given) {
  nn::SampledLossOptions options;
  options.num_sampled = to_int64(given["num_sampled"], "num_sampled");
  options.num_classes = to_int64(given["num_classes"], "num_classes");
  options.num_true = to_int64(given["num_true"], "num_true");
  if (H values = given["sampled_values"]; !values.is_none()) {
    nb::list parts(values);
    if (nb::len(parts) != 3) raise(PyExc_ValueError, "sampled_values must be three tensors, not " + text_of(values));
    options.sampled_values = nn::SampledCandidates{to_output(graph, parts[0], DType::Int64, {}),
                                                   to_output(graph, parts[1], DType::Float32, {}),
                                                   to_output(graph, parts[2], DType::Float32, {})};
  }
  options.remove_accidental_hits = to_bool(given["remove_accidental_hits"]);
  if (to_name(given["partition_strategy"]) == "div") options.strategy = nn::PartitionStrategy::Div;
  options.seed = to_seed(given["seed"]);
  if (given.contains("subtract_log_q")) options.subtract_log_q = to_bool(given["subtract_log_q"]);
  return options;
}

using SampledLoss = Output (*)(const InList&, const InList&, const In&, const In&, const nn::SampledLossOptions&,
                               std::string_view);

template <SampledLoss function>
void def_sampled_loss(nb::module_& m, const char* name) {
  def(m, name, [](G g, H weights, H biases, H labels, H inputs, nb::dict options, H node) {
    return build(g, {inputs, weights}, [&](G graph) {
      Output classes = to_output(graph, labels, find_tensor(labels) ? DType::Invalid : DType::Int64, "labels");
      return wrap(function(to_outputs(graph, weights), to_outputs(graph, biases), classes, to_in(graph, inputs),
                           sampled_options(graph, options), to_name(node)));
    });
  });
}

nb::object lookup_sparse(G g, H params, nb::tuple ids, H weights, bool div, const std::string& combiner, H max_norm,
                         H name) {
  return build(g, {params, ids}, [&](G graph) {
    nn::SparseEmbeddingOptions options{to_optional_in(graph, weights),
                                       div ? nn::PartitionStrategy::Div : nn::PartitionStrategy::Mod, combiner,
                                       to_optional_in(graph, max_norm)};
    return wrap(nn::embedding_lookup_sparse(to_outputs(graph, params),
                                            {to_in(graph, item_of(ids, 0)), to_in(graph, item_of(ids, 1))}, options,
                                            to_name(name)));
  });
}

void bind_layers(nb::module_& m) {
  def_layer<&nn::xw_plus_b>(m, "xw_plus_b");
  def_layer<&nn::relu_layer>(m, "relu_layer");
  def(m, "depthwise_conv2d", [](G g, H input, H filter, H strides, H padding, H rate, H data_format, H name) {
    return build(g, {input, filter}, [&](G graph) {
      Label label(name, "depthwise");
      const In image = anchor(graph, input, "tensor_in", label);
      return wrap(nn::depthwise_conv2d(image, to_in(graph, filter, image.output().dtype()),
                                       depthwise_options(strides, padding, rate, data_format), label.text));
    });
  });
  def(m, "separable_conv2d",
      [](G g, H input, H deep, H pointwise, H strides, H padding, H rate, H data_format, H name) {
        return build(g, {input, deep, pointwise}, [&](G graph) {
          Label label(name, "separable_conv2d");
          const In image = anchor(graph, input, "tensor_in", label);
          const DType dtype = image.output().dtype();
          return wrap(nn::separable_conv2d(image, to_in(graph, deep, dtype), to_in(graph, pointwise, dtype),
                                           depthwise_options(strides, padding, rate, data_format), label.text));
        });
      });
  def(m, "log_poisson_loss", [](G g, H targets, H log_input, bool full, H name) {
    return build(g, {log_input, targets}, [&](G graph) {
      Label label(name, "log_poisson_loss");
      const In x = anchor(graph, log_input, "log_input", label);
      return wrap(nn::log_poisson_loss(to_in(graph, targets, x.output().dtype()), x, full, label.text));
    });
  });
  def(m, "weighted_cross_entropy_with_logits", [](G g, H labels, H logits, H pos_weight, H name) {
    return build(g, {logits, labels}, [&](G graph) {
      Label label(name, "logistic_loss");
      const In x = anchor(graph, logits, "logits", label);
      return wrap(nn::weighted_cross_entropy_with_logits(to_in(graph, labels, x.output().dtype()), x,
                                                         to_in(graph, pos_weight), label.text));
    });
  });
  def(m, "compute_sampled_logits", [](G g, H weights, H biases, H labels, H inputs, nb::dict options, H node) {
    return build(g, {inputs, weights}, [&](G graph) {
      Output classes = to_output(graph, labels, find_tensor(labels) ? DType::Invalid : DType::Int64, "labels");
      auto sampled = nn::compute_sampled_logits(to_outputs(graph, weights), to_outputs(graph, biases), classes,
                                                to_in(graph, inputs), sampled_options(graph, options), to_name(node));
      return nb::make_tuple(wrap(sampled.logits), wrap(sampled.labels));
    });
  });
  def_sampled_loss<&nn::nce_loss>(m, "nce_loss");
  def_sampled_loss<&nn::sampled_softmax_loss>(m, "sampled_softmax_loss");
  def(m, "embedding_lookup_sparse",
      [](G g, H params, nb::tuple ids, H weights, bool div, const std::string& combiner, H max_norm, H name) {
        return lookup_sparse(g, params, ids, weights, div, combiner, max_norm, name);
      });
  def(m, "embedding_lookup", [](G g, H params, H ids, bool div, H max_norm, H name) {
    return build(g, {params, ids}, [&](G graph) {
      nn::EmbeddingOptions options{div ? nn::PartitionStrategy::Div : nn::PartitionStrategy::Mod,
                                   to_optional_in(graph, max_norm)};
      return wrap(nn::embedding_lookup(to_outputs(graph, params), to_in(graph, ids), options, to_name(name)));
    });
  });
}

// ---- Masks, grids and matrices.

void bind_indices(nb::module_& m) {
  def(m, "sequence_mask", [](G g, H lengths, H maxlen, H dtype, H name) {
    return build(g, {lengths, maxlen}, [&](G graph) {
      Label label(name, "SequenceMask");
      const In in = anchor(graph, lengths, "Const", label);
      return wrap(sequence_mask(in, to_optional_value(graph, maxlen), to_dtype(dtype), label.text));
    });
  });
  def(m, "boolean_mask", [](G g, H tensor, H mask, int axis, H name) {
    return build(g, {tensor, mask}, [&](G graph) {
      Label label(name, "boolean_mask");
      const In in = anchor(graph, tensor, "tensor", label);
      return wrap(boolean_mask(in, to_value(graph, mask), axis, label.text));
    });
  });
  def(m, "meshgrid", [](G g, H given, bool xy, H name) {
    return build(g, {given}, [&](G graph) {
      Label label(name, "meshgrid");
      nb::list axes(given);
      std::vector<In> values;
      for (H axis : axes) values.push_back(to_value(graph, axis));
      if (!values.empty() && !find_tensor(axes)) values[0] = anchor(graph, item_of(axes, 0), "stack", label);
      return wrap(meshgrid(values, xy, label.text));
    });
  });
  def(m, "confusion_matrix", [](G g, H labels, H predictions, H num_classes, H dtype, H weights, H name) {
    return build(g, {labels, predictions}, [&](G graph) {
      Label label(name, "confusion_matrix");
      const In rows = anchor(graph, labels, "labels", label);
      ConfusionMatrixOptions options{to_optional_value(graph, num_classes), to_dtype(dtype),
                                     to_optional_value(graph, weights)};
      return wrap(confusion_matrix(rows, to_value(graph, predictions), options, label.text));
    });
  });
}

template <Output (*function)(const In&, std::string_view)>
void def_matrix_function(nb::module_& m, const char* name) {
  def(m, name, [usual = std::string(name)](G g, H matrix, H node) {
    return build(g, {matrix}, [&](G graph) {
      Label label(node, usual.c_str());
      const In in = anchor(graph, matrix, "matrix", label);
      return wrap(function(in, label.text));
    });
  });
}

void bind_matrices(nb::module_& m) {
  def(m, "tensordot", [](G g, H a, H b, H axes, H name) {
    return build(g, {a, b}, [&](G graph) {
      Label label(name, "Tensordot");
      const In x = anchor(graph, a, "a", label);
      const In y = to_in(graph, b, x.output().dtype());
      if (nb::isinstance<TensorObject>(axes)) return wrap(tensordot_along(x, y, to_in(graph, axes), label.text));
      if (PyIndex_Check(axes.ptr()) && !nb::hasattr(axes, "__len__")) {
        return wrap(tensordot(x, y, to_int(axes, "axes"), label.text));
      }
      nb::list both(axes);
      if (nb::len(both) != 2) raise(PyExc_ValueError, "'axes' must be an integer or have length 2.");
      return wrap(tensordot(x, y, to_ints(both[0], "axes"), to_ints(both[1], "axes"), label.text));
    });
  });
  def(m, "einsum", [](G g, const std::string& equation, H given, H name) {
    return build(g, {given}, [&](G graph) {
      Label label(name, "einsum");
      nb::list inputs(given);
      std::vector<In> values;
      for (H input : inputs) values.push_back(to_value(graph, input));
      if (!values.empty() && !find_tensor(inputs)) values[0] = anchor(graph, item_of(inputs, 0), "input", label);
      return wrap(einsum(equation, values, label.text));
    });
  });
  def(m, "norm", [](G g, H tensor, double ord, H axis, bool keep_dims, H name) {
    return build(g, {tensor}, [&](G graph) {
      Label label(name, "norm");
      const In in = anchor(graph, tensor, "Const", label);
      return wrap(norm(in, {ord, to_axes(graph, axis), keep_dims}, label.text));
    });
  });
  def(m, "matrix_norm", [](G g, H tensor, double ord, int rows, int columns, bool keep_dims, H name) {
    return build(g, {tensor}, [&](G graph) {
      Label label(name, "norm");
      const In in = anchor(graph, tensor, "Const", label);
      return wrap(matrix_norm(in, {ord, rows, columns, keep_dims}, label.text));
    });
  });
  def(m, "trace", [](G g, H x, H name) {
    return build(g, {x}, [&](G graph) {
      Label label(name, "Trace");
      const In in = anchor(graph, x, "x", label);
      return wrap(trace(in, label.text));
    });
  });
  def(m, "eye", [](G g, int64_t rows, int64_t columns, H batch_shape, H dtype, H name) {
    return build(g, {}, [&](G graph) {
      return wrap(eye(graph, rows, {columns, to_ints(batch_shape, "batch_shape"), to_dtype(dtype)}, to_name(name)));
    });
  });
  def_matrix_function<adjoint>(m, "adjoint");
  def_matrix_function<logdet>(m, "logdet");
  def(m, "cholesky_solve", [](G g, H chol, H rhs, H name) {
    return build(g, {chol, rhs}, [&](G graph) {
      Label label(name, "cholesky_solve");
      const In in = anchor(graph, chol, "chol", label);
      return wrap(cholesky_solve(in, to_in(graph, rhs, in.output().dtype()), label.text));
    });
  });
  def(m, "matvec", [](G g, H a, H b, bool transpose, bool adjoint, H name) {
    return build(g, {a, b}, [&](G graph) {
      Label label(name, "MatVec");
      const In in = anchor(graph, a, "a", label);
      return wrap(matvec(in, to_in(graph, b, in.output().dtype()), {.transpose_a = transpose, .adjoint_a = adjoint},
                         label.text));
    });
  });
  def(m, "matrix_rank", [](G g, H a, H tol, H name) {
    return build(g, {a}, [&](G graph) {
      Label label(name, "matrix_rank");
      const In in = anchor(graph, a, "a", label);
      return wrap(matrix_rank(in, to_optional_value(graph, tol), label.text));
    });
  });
  def(m, "pinv", [](G g, H a, H rcond, H name) {
    return build(g, {a}, [&](G graph) {
      Label label(name, "pinv");
      const In in = anchor(graph, a, "a", label);
      return wrap(pinv(in, to_optional_value(graph, rcond), label.text));
    });
  });
  def(m, "matrix_transpose", [](G g, H a, H name) {
    return build(g, {a}, [&](G graph) {
      Label label(name, "matrix_transpose");
      const In in = anchor(graph, a, "a", label);
      return wrap(matrix_transpose(in, label.text));
    });
  });
}

}  // namespace

void bind_functions(nb::module_& m) {
  bind_losses(m);
  bind_statistics(m);
  bind_layers(m);
  bind_indices(m);
  bind_matrices(m);
}

}  // namespace weir::python
