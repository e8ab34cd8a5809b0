// Functions of the C++ API that make more than one node, or choose among operations. The graph comes first, the node's
// name last; the public names, argument orders and defaults are the Python package's.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "building.h"

namespace weir::python {
namespace {

using H = nb::handle;
using G = GraphObject&;

// Sizes are int32 unless a tensor among them says otherwise.
In to_sizes(GraphObject& graph, H sizes) {
  return to_in(graph, sizes, find_tensor(sizes) ? DType::Invalid : DType::Int32);
}

// The type that two arguments share: that of whichever is a tensor.
DType shared_type(H x, H y) {
  if (const Output* left = find_tensor(x)) return left->dtype();
  const Output* right = find_tensor(y);
  return right ? right->dtype() : DType::Invalid;
}

template <Output (*function)(const In&, std::string_view)>
void def_unary(nb::module_& m, const char* name) {
  def(m, name, [](G g, H x, H node) {
    return build(g, {x}, [&](G graph) { return wrap(function(first_in(graph, x, "x"), to_name(node))); });
  });
}

template <Output (*function)(const In&, const In&, std::string_view)>
void def_binary(nb::module_& m, const char* name) {
  def(m, name, [](G g, H x, H y, H node) {
    return build(g, {x, y}, [&](G graph) {
      In left = first_in(graph, x, "x", shared_type(x, y));
      return wrap(function(left, to_in(graph, y, left.output().dtype()), to_name(node)));
    });
  });
}

nb::object subscript_tensor(G g, H x, nb::tuple keys, H name) {
  return build(g, {x}, [&](G graph) {
    std::vector<Subscript> subscripts;
    for (H key : keys) {
      if (key.is_none()) {
        subscripts.emplace_back(Subscript::Kind::NewAxis);
      } else if (key.ptr() == Py_Ellipsis) {
        subscripts.emplace_back(Subscript::Kind::Ellipsis);
      } else if (PySlice_Check(key.ptr())) {
        Subscript range(Subscript::Kind::Range);
        range.begin = to_optional_in(graph, key.attr("start"));
        range.end = to_optional_in(graph, key.attr("stop"));
        range.stride = to_optional_in(graph, key.attr("step"));
        subscripts.push_back(range);
      } else {
        Subscript element(Subscript::Kind::Element);
        element.begin = to_in(graph, key);
        subscripts.push_back(element);
      }
    }
    return wrap(subscript(first_in(graph, x, "input"), subscripts, to_name(name)));
  });
}

// How many parts a tensor of sizes asks for: what the program says, or else its length; -1 when neither is known.
int part_count(const Output& sizes, H num) {
  if (!num.is_none()) return to_int(num, "num");
  const Shape& shape = sizes.shape();
  return shape.has_rank() && shape.rank() == 1 ? static_cast<int>(shape[0]) : -1;
}

nb::object split_tensor(G g, H value, H sizes, H axis, H num, H name) {
  return build(g, {value, axis, sizes}, [&](G graph) -> nb::object {
    In input = first_in(graph, value, "value");
    In along = to_in(graph, axis);
    if (find_tensor(sizes)) {
      const Output tensor = to_output(graph, sizes, DType::Invalid, "size_splits");
      return wrap(split_v(input, tensor, along, part_count(tensor, num), to_name(name)));
    }
    if (PyIndex_Check(sizes.ptr()) && !nb::hasattr(sizes, "__len__")) {
      return wrap(split(input, to_int(sizes, "num_split"), along, to_name(name)));
    }
    if (!nb::hasattr(sizes, "__len__")) {
      raise(PyExc_ValueError,
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument "
            "provided: " +
                text_of(sizes));
    }
    return wrap(split(input, to_ints(sizes, "size_splits"), along, to_name(name)));
  });
}

void bind_arrays(nb::module_& m) {
  def(m, "zeros", [](G g, H shape, H dtype, H name) {
    return build(g, {shape},
                 [&](G graph) { return wrap(zeros(graph, to_sizes(graph, shape), to_dtype(dtype), to_name(name))); });
  });
  def(m, "ones", [](G g, H shape, H dtype, H name) {
    return build(g, {shape},
                 [&](G graph) { return wrap(ones(graph, to_sizes(graph, shape), to_dtype(dtype), to_name(name))); });
  });
  def(m, "zeros_like", [](G g, H x, H dtype, H name) {
    return build(g, {x}, [&](G graph) {
      return wrap(zeros_like(first_in(graph, x, "tensor"), to_dtype(dtype), to_name(name)));
    });
  });
  def(m, "ones_like", [](G g, H x, H dtype, H name) {
    return build(
        g, {x}, [&](G graph) { return wrap(ones_like(first_in(graph, x, "tensor"), to_dtype(dtype), to_name(name))); });
  });
  def(m, "range", [](G g, H start, H limit, H delta, H dtype, H name) {
    return build(g, {start, limit, delta}, [&](G graph) {
      const DType want = to_dtype(dtype);
      return wrap(
          range(graph, to_in(graph, start, want), to_in(graph, limit, want), to_in(graph, delta, want), to_name(name)));
    });
  });
  def(m, "shape", [](G g, H x, H out_type, H name) {
    return build(g, {x},
                 [&](G graph) { return wrap(shape(first_in(graph, x, "input"), to_dtype(out_type), to_name(name))); });
  });
  def(m, "size", [](G g, H x, H out_type, H name) {
    return build(g, {x},
                 [&](G graph) { return wrap(size(first_in(graph, x, "input"), to_dtype(out_type), to_name(name))); });
  });
  def_unary<&rank>(m, "rank");
  def(m, "transpose", [](G g, H x, H perm, H name) {
    return build(g, {x, perm}, [&](G graph) {
      In input = first_in(graph, x, "a");
      return wrap(perm.is_none() ? transpose(input) : transpose(input, to_in(graph, perm), to_name(name)));
    });
  });
  def(m, "concat", [](G g, nb::list values, H axis, H name) {
    return build(g, {values, axis}, [&](G graph) {
      if (nb::len(values) == 1) {
        return wrap(concat(to_outputs(graph, values), to_in(graph, axis), to_name(name)));
      }
      const std::string full = scope_name(graph, to_name(name), "concat");
      std::vector<Output> parts;
      {
        Scope scope = graph.name_scope(full);
        const DType want = shared_type(values, values);
        for (size_t i = 0; i < nb::len(values); ++i) {
          parts.push_back(to_output(graph, values[i], want, "values_" + std::to_string(i)));
        }
      }
      return wrap(concat(parts, to_in(graph, axis), full));
    });
  });
  def(m, "stack", [](G g, H values, int64_t axis, H name) {
    return build(g, {values}, [&](G graph) {
      return wrap(stack(to_outputs(graph, values, shared_type(values, values)), axis, to_name(name)));
    });
  });
  def(m, "unstack", [](G g, H value, H num, int64_t axis, H name) {
    return build(g, {value}, [&](G graph) {
      const int64_t count = num.is_none() ? -1 : to_int64(num, "num");
      return wrap(unstack(first_in(graph, value, "value"), count, axis, to_name(name)));
    });
  });
  def(m, "split",
      [](G g, H value, H sizes, H axis, H num, H name) { return split_tensor(g, value, sizes, axis, num, name); });
  def(m, "subscript", [](G g, H x, nb::tuple keys, H name) { return subscript_tensor(g, x, keys, name); });
  def(m, "one_hot", [](G g, H indices, H depth, H on, H off, H axis, H dtype, H name) {
    return build(g, {indices, depth, on, off}, [&](G graph) {
      const DType want = to_dtype(dtype);
      OneHotOptions options{.axis = axis.is_none() ? -1 : to_int64(axis, "axis"), .dtype = want};
      if (!on.is_none()) options.on_value = to_in(graph, on, want);
      if (!off.is_none()) options.off_value = to_in(graph, off, want);
      return wrap(one_hot(first_in(graph, indices, "indices"), to_in(graph, depth), options, to_name(name)));
    });
  });
  def(m, "where", [](G g, H condition, H x, H y, H name) {
    return build(g, {condition, x, y}, [&](G graph) {
      In test = first_in(graph, condition, "condition", find_tensor(condition) ? DType::Invalid : DType::Bool);
      if (x.is_none() && y.is_none()) return wrap(where(test, to_name(name)));
      const DType want = shared_type(x, y);
      return wrap(where(test, to_in(graph, x, want), to_in(graph, y, want), to_name(name)));
    });
  });
  def(m, "gather", [](G g, H params, H indices, H axis, H name) {
    return build(g, {params, indices, axis}, [&](G graph) {
      return wrap(gather(first_in(graph, params, "params"), to_in(graph, indices), to_in(graph, axis), to_name(name)));
    });
  });
  def(m, "pad", [](G g, H tensor, H paddings, H value, H name) {
    return build(g, {tensor, paddings}, [&](G graph) {
      In input = first_in(graph, tensor, "tensor");
      return wrap(pad(input, to_in(graph, paddings), to_in(graph, value, input.output().dtype()), to_name(name)));
    });
  });
}

void bind_math(nb::module_& m) {
  def(m, "reduce", [](G g, const std::string& op, H x, H axis, bool keep_dims, H name) {
    return build(g, {x, axis}, [&](G graph) {
      In input = first_in(graph, x, "input_tensor");
      return wrap(Reduction(op)(input, ReduceOptions{to_axes(graph, axis), keep_dims}, to_name(name)));
    });
  });
  def(m, "reduce_logsumexp", [](G g, H x, H axis, bool keep_dims, H name) {
    return build(g, {x, axis}, [&](G graph) {
      In input = first_in(graph, x, "input_tensor");
      return wrap(reduce_logsumexp(input, ReduceOptions{to_axes(graph, axis), keep_dims}, to_name(name)));
    });
  });
  def(m, "cast", [](G g, H x, H dtype, H name) {
    return build(g, {x}, [&](G graph) { return wrap(cast(first_in(graph, x, "x"), to_dtype(dtype), to_name(name))); });
  });
  def(m, "matmul", [](G g, H a, H b, bool ta, bool tb, bool aa, bool ab, H name) {
    return build(g, {a, b}, [&](G graph) {
      In left = first_in(graph, a, "a", shared_type(a, b));
      return wrap(matmul(left, to_in(graph, b, left.output().dtype()), {ta, tb, aa, ab}, to_name(name)));
    });
  });
  def_binary<&truediv>(m, "truediv");
  def_binary<&div>(m, "div");
  def_binary<&divide>(m, "divide");
  def_binary<&floordiv>(m, "floordiv");
  def_binary<&logical_xor>(m, "logical_xor");
  def_unary<&abs>(m, "abs");
  def_unary<&round>(m, "round");
  def(m, "clip_by_value", [](G g, H t, H low, H high, H name) {
    return build(g, {t, low, high}, [&](G graph) {
      In x = first_in(graph, t, "t");
      const DType want = x.output().dtype();
      return wrap(clip_by_value(x, to_in(graph, low, want), to_in(graph, high, want), to_name(name)));
    });
  });
  def(m, "clip_by_norm", [](G g, H t, H norm, H axes, H name) {
    return build(g, {t, norm}, [&](G graph) {
      return wrap(clip_by_norm(first_in(graph, t, "t"), to_in(graph, norm), to_axes(graph, axes), to_name(name)));
    });
  });
  def(m, "global_norm", [](G g, H list, H name) {
    return build(g, {list}, [&](G graph) { return wrap(global_norm(to_outputs(graph, list), to_name(name))); });
  });
  def(m, "clip_by_global_norm", [](G g, H list, H norm, H use_norm, H name) {
    return build(g, {list, norm}, [&](G graph) {
      Output known = use_norm.is_none() ? Output() : to_output(graph, use_norm, DType::Invalid, "use_norm");
      auto [clipped, total] = clip_by_global_norm(to_outputs(graph, list), to_in(graph, norm), known, to_name(name));
      return nb::make_tuple(wrap(clipped), wrap(total));
    });
  });
}

void bind_random(nb::module_& m) {
  def(m, "random_uniform", [](G g, H shape, H low, H high, H dtype, H seed, H name) {
    return build(g, {shape, low, high}, [&](G graph) {
      const DType want = to_dtype(dtype);
      RandomUniformOptions options{.dtype = want, .seed = to_seed(seed)};
      options.minval = to_in(graph, low, want);
      if (!high.is_none()) options.maxval = to_in(graph, high, want);
      return wrap(random_uniform(graph, to_sizes(graph, shape), options, to_name(name)));
    });
  });
  auto normal = [&](const char* name, auto function) {
    def(m, name, [function](G g, H shape, H mean, H stddev, H dtype, H seed, H node) {
      return build(g, {shape, mean, stddev}, [&](G graph) {
        const DType want = to_dtype(dtype);
        RandomNormalOptions options{.dtype = want, .seed = to_seed(seed)};
        options.mean = to_in(graph, mean, want);
        options.stddev = to_in(graph, stddev, want);
        return wrap(function(graph, to_sizes(graph, shape), options, to_name(node)));
      });
    });
  };
  normal("random_normal", &random_normal);
  normal("truncated_normal", &truncated_normal);
  def(m, "random_shuffle", [](G g, H value, H seed, H name) {
    return build(g, {value}, [&](G graph) {
      return wrap(random_shuffle(first_in(graph, value, "value"), {to_seed(seed)}, to_name(name)));
    });
  });
  def(m, "multinomial", [](G g, H logits, H samples, H seed, H dtype, H name) {
    return build(g, {logits, samples}, [&](G graph) {
      MultinomialOptions options{.seed = to_seed(seed), .output_dtype = to_dtype(dtype)};
      return wrap(multinomial(first_in(graph, logits, "logits"), to_in(graph, samples), options, to_name(name)));
    });
  });
}

void bind_nn(nb::module_& m) {
  def(m, "dropout", [](G g, H x, H keep_prob, H noise_shape, H seed, H name) {
    return build(g, {x, keep_prob}, [&](G graph) {
      nn::DropoutOptions options{.noise_shape = to_optional_in(graph, noise_shape), .seed = to_seed(seed)};
      return wrap(nn::dropout(first_in(graph, x, "x"), to_in(graph, keep_prob), options, to_name(name)));
    });
  });
  def_binary<&nn::softmax_cross_entropy_with_logits>(m, "softmax_cross_entropy_with_logits");
  def_binary<&nn::softmax_cross_entropy_with_logits_v2>(m, "softmax_cross_entropy_with_logits_v2");
  def_binary<&nn::sigmoid_cross_entropy_with_logits>(m, "sigmoid_cross_entropy_with_logits");
  def(m, "sparse_softmax_cross_entropy_with_logits", [](G g, H labels, H logits, H name) {
    return build(g, {logits, labels}, [&](G graph) {
      In classes = first_in(graph, labels, "labels");
      return wrap(nn::sparse_softmax_cross_entropy_with_logits(classes, to_in(graph, logits), to_name(name)));
    });
  });
}

}  // namespace

void bind_composed(nb::module_& m) {
  bind_arrays(m);
  bind_math(m);
  bind_random(m);
  bind_nn(m);
}

}  // namespace weir::python
