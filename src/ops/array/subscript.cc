#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir {
namespace {

// One of the three vectors: a constant, or a Pack when entries are tensors; as TensorFlow's stack() makes them.
Output pack_entries(Graph& graph, const std::vector<In>& entries) {
  bool constant = true;
  for (const In& entry : entries) constant = constant && !entry.output();
  if (!constant) return stack(entries);
  std::vector<int32_t> values;
  for (const In& entry : entries) values.push_back(convert_literal(entry.value(), int32).scalar<int32_t>());
  return graph.constant(Tensor(values), "stack");
}

}  // namespace

Subscript from(const In& begin) {
  Subscript s(Subscript::Kind::Range);
  s.begin = begin;
  return s;
}

Subscript until(const In& end) {
  Subscript s(Subscript::Kind::Range);
  s.end = end;
  return s;
}

Subscript between(const In& begin, const In& end, const In& stride) {
  Subscript s(Subscript::Kind::Range);
  s.begin = begin;
  s.end = end;
  s.stride = stride;
  return s;
}

Output subscript(const In& x, const std::vector<Subscript>& subscripts, std::string_view name) {
  Graph& graph = ops::graph_of({&x});
  LineScope line(graph, source_line(x.where()));
  std::vector<In> begin, end, strides;
  StridedSliceOptions masks;
  for (size_t i = 0; i < subscripts.size(); ++i) {
    const Subscript& s = subscripts[i];
    int64_t bit = int64_t{1} << i;
    switch (s.kind) {
      case Subscript::Kind::Element:
        begin.push_back(*s.begin);
        end.push_back(s.begin->output() ? In(*s.begin + 1)
                                        : In(convert_literal(s.begin->value(), int64).scalar<int64_t>() + 1));
        masks.shrink_axis_mask |= bit;
        break;
      case Subscript::Kind::Range:
        if (!s.begin) masks.begin_mask |= bit;
        if (!s.end) masks.end_mask |= bit;
        begin.push_back(s.begin.value_or(In(0)));
        end.push_back(s.end.value_or(In(0)));
        break;
      case Subscript::Kind::Ellipsis:
      case Subscript::Kind::NewAxis:
        (s.kind == Subscript::Kind::Ellipsis ? masks.ellipsis_mask : masks.new_axis_mask) |= bit;
        begin.push_back(0);
        end.push_back(0);
        break;
    }
    strides.push_back(s.stride.value_or(In(1)));
  }
  Scope scope = graph.name_scope(ops::name_or(name, "strided_slice"));
  if (subscripts.empty()) {
    Output none = graph.constant(Tensor(DType::Int32, Shape{0}));
    return strided_slice(x, none, none, none, masks, scope.name());
  }
  Output packed[] = {pack_entries(graph, begin), pack_entries(graph, end), pack_entries(graph, strides)};
  bool wide = packed[0].dtype() == int64 || packed[1].dtype() == int64 || packed[2].dtype() == int64;
  if (wide) {
    for (Output& p : packed) p = cast(p, int64);
  }
  return strided_slice(x, packed[0], packed[1], packed[2], masks, scope.name());
}

}  // namespace weir
