#include <algorithm>
#include <set>

#include "nn/convert.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

// Sums of products by index names, in TensorFlow 1's way: two arguments at a time become one matrix product, or a
// product of elements where nothing is summed.
namespace weir {
namespace {

// A dimension: its size where that is known, else an output that gives it.
struct Size {
  int64_t known = 1;
  Output computed = {};

  In in() const { return computed ? In(computed) : In(static_cast<int32_t>(known)); }
};
using Sizes = std::vector<Size>;

Sizes sizes_of(const Output& x) {
  Sizes sizes;
  for (int64_t dim : x.shape().dims()) sizes.push_back({dim});
  if (x.shape().is_known()) return sizes;
  Output shape = weir::shape(x);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].known == kUnknown) sizes[i].computed = subscript(shape, {static_cast<int>(i)});
  }
  return sizes;
}

Size product(Sizes::const_iterator begin, Sizes::const_iterator end) {
  Size total;
  for (auto i = begin; i != end; ++i) {
    if (total.computed || i->computed) {
      total = {kUnknown, total.in() * i->in()};
    } else {
      total.known = checked_multiply(total.known, i->known);
    }
  }
  return total;
}

Output reshape_if_necessary(Graph& g, const Output& x, const Sizes& sizes) {
  bool same = x.shape().rank() == static_cast<int>(sizes.size()), known = true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    known = known && !sizes[i].computed;
    same = same && known && x.shape()[static_cast<int>(i)] == sizes[i].known;
  }
  if (same) return x;
  if (known) {
    std::vector<int32_t> shape;
    for (const Size& size : sizes) shape.push_back(static_cast<int32_t>(size.known));
    return reshape(x, shape);
  }
  Scope scope = g.name_scope("Reshape");
  Output shape;
  {
    Scope inner = g.name_scope("shape");
    std::vector<Output> parts;
    for (size_t i = 0; i < sizes.size(); ++i) {
      parts.push_back(nn::as_output(g, sizes[i].in(), int32, std::to_string(i)));
    }
    shape = stack(parts, 0, inner.name());
  }
  return reshape(x, shape, scope.name());
}

Output transpose_to(const Output& x, const std::string& labels, const std::string& wanted) {
  if (labels == wanted) return x;
  std::vector<int> perm;
  for (char label : wanted) perm.push_back(static_cast<int>(labels.find(label)));
  return transpose(x, perm);
}

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

struct Term {
  Output value;
  std::string labels;
};

// The labels for which `keep` holds, in alphabetical order.
template <class Keep>
std::string sorted_labels(std::string labels, Keep keep) {
  std::erase_if(labels, [&](char label) { return !keep(label); });
  std::sort(labels.begin(), labels.end());
  return labels;
}

// One product; labels of both terms that `output` lacks are summed.
Term multiply_terms(Graph& g, const Term& a, const Term& b, const std::string& output) {
  const std::string shared = sorted_labels(a.labels, [&](char l) { return has(b.labels, l) && has(output, l); });
  const std::string summed = sorted_labels(a.labels, [&](char l) { return has(b.labels, l) && !has(output, l); });
  const std::string left = sorted_labels(a.labels, [&](char l) { return !has(b.labels, l); });
  const std::string right = sorted_labels(b.labels, [&](char l) { return !has(a.labels, l); });
  Output x = transpose_to(a.value, a.labels, shared + left + summed);
  Output y = transpose_to(b.value, b.labels, shared + summed + right);
  const std::string labels = shared + left + right;
  if (summed.empty()) {
    for (size_t i = 0; i < right.size(); ++i) x = expand_dims(x, -1);
    for (size_t i = 0; i < left.size(); ++i) y = expand_dims(y, static_cast<int>(shared.size()));
    return {multiply(x, y), labels};
  }
  const auto ns = static_cast<std::ptrdiff_t>(shared.size()), nl = static_cast<std::ptrdiff_t>(left.size()),
             nr = static_cast<std::ptrdiff_t>(right.size());
  const Sizes x_sizes = sizes_of(x);
  const Size rows = product(x_sizes.begin() + ns, x_sizes.begin() + ns + nl);
  const Size inner = product(x_sizes.begin() + ns + nl, x_sizes.end());
  Sizes flat(x_sizes.begin(), x_sizes.begin() + ns);
  flat.insert(flat.end(), {rows, inner});
  x = reshape_if_necessary(g, x, flat);

  const Sizes y_sizes = sizes_of(y);
  const Size columns = product(y_sizes.end() - nr, y_sizes.end());
  flat.assign(y_sizes.begin(), y_sizes.begin() + ns);
  flat.insert(flat.end(), {inner, columns});
  y = reshape_if_necessary(g, y, flat);

  Sizes whole(x_sizes.begin(), x_sizes.begin() + ns + nl);
  whole.insert(whole.end(), y_sizes.end() - nr, y_sizes.end());
  return {reshape_if_necessary(g, matmul(x, y), whole), labels};
}

struct Equation {
  std::vector<std::string> terms;
  std::string output;
};

// Names for the dimensions that "..." stands for in one term, from the unused letters.
std::string resolve_ellipsis(std::string& term, const Shape& shape, const std::string& unused) {
  const size_t at = term.find("...");
  if (at == std::string::npos) return {};
  if (!shape.has_rank()) throw invalid_argument("einsum: the rank of an argument with '...' must be known");
  const int64_t count = shape.rank() - static_cast<int64_t>(term.size() - 3);
  if (count < 0 || count > static_cast<int64_t>(unused.size())) {
    throw invalid_argument("einsum: '{}' does not fit an argument of shape {}", term, shape.str());
  }
  std::string names = unused.substr(unused.size() - static_cast<size_t>(count));
  term.replace(at, 3, names);
  return names;
}

Equation parse(std::string_view text, const std::vector<Output>& inputs) {
  std::string plain;
  for (char c : text) {
    if (c != ' ') plain += c;
  }
  const size_t arrow = plain.find("->");
  const std::string left = plain.substr(0, arrow);
  Equation e;
  for (size_t begin = 0; begin <= left.size();) {
    const size_t end = std::min(left.find(',', begin), left.size());
    e.terms.push_back(left.substr(begin, end - begin));
    begin = end + 1;
  }
  if (e.terms.size() != inputs.size()) {
    throw invalid_argument("Got {} arguments for equation \"{}\", expecting {}", inputs.size(), plain, e.terms.size());
  }
  std::string unused, ellipsis;
  for (const char first : {'a', 'A'}) {
    for (char c = first; c < first + 26; ++c) {
      if (!has(left, c)) unused += c;
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string names = resolve_ellipsis(e.terms[i], inputs[i].shape(), unused);
    if (names.size() > ellipsis.size()) ellipsis = names;
  }
  std::string all;
  for (const std::string& term : e.terms) all += term;
  if (arrow != std::string::npos) {
    e.output = plain.substr(arrow + 2);
    if (const size_t at = e.output.find("..."); at != std::string::npos) e.output.replace(at, 3, ellipsis);
  } else {
    e.output = ellipsis + sorted_labels(all, [&](char l) {
                 return !has(ellipsis, l) && std::count(all.begin(), all.end(), l) == 1;
               });
  }
  for (char c : all + e.output) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter || !has(all, c)) throw invalid_argument("Indices have incorrect format: {}", plain);
  }
  return e;
}

// For an index that more than two terms share: all terms, stretched to all indices, multiplied and summed.
Output multiply_all(const Equation& e, const std::vector<Output>& inputs) {
  std::string all;
  for (const std::string& term : e.terms) all += term;
  std::string order = sorted_labels(all, [&](char l) { return !has(e.output, l); });
  order.erase(std::unique(order.begin(), order.end()), order.end());
  const auto summed = static_cast<int>(order.size());
  order += e.output;
  Output total;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string labels;
    for (char l : order) {
      if (has(e.terms[i], l)) labels += l;
    }
    Output x = transpose_to(inputs[i], e.terms[i], labels);
    for (size_t j = 0; j < order.size(); ++j) {
      if (!has(labels, order[j])) x = expand_dims(x, static_cast<int>(j));
    }
    total = i == 0 ? x : total * x;
  }
  std::vector<int> axes;
  for (int i = 0; i < summed; ++i) axes.push_back(i);
  return reduce_sum(total, axes, false);
}

}  // namespace

Output einsum(std::string_view equation, const InList& inputs, std::string_view name) {
  Graph* graph = nullptr;
  for (const In& in : inputs.values()) {
    if (!graph && in.output()) graph = &in.output().graph();
  }
  if (!graph) throw invalid_argument("no argument belongs to a graph; make one of them with Graph::constant");
  Graph& g = *graph;
  LineScope line(g, source_line(inputs.values()[0].where()));
  Scope scope = g.name_scope(name.empty() ? "einsum" : name);
  std::vector<Output> values;
  for (const In& in : inputs.values()) values.push_back(nn::as_output(g, in, float32, "input"));
  const Equation e = parse(equation, values);
  std::map<char, int> uses;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& term = e.terms[i];
    const std::set<char> distinct(term.begin(), term.end());
    if (distinct.size() != term.size()) {
      if (values.size() == 1 && term.size() == 2 && e.output.empty() && equation.find("->") == std::string_view::npos)
        return trace(values[0]);
      throw invalid_argument("Subscript not supported: an axis appears more than once: {}", term);
    }
    const Shape& shape = values[i].shape();
    if (!shape.has_rank() || shape.rank() != static_cast<int>(term.size())) {
      throw invalid_argument("einsum: \"{}\" of \"{}\" does not fit an argument of shape {}", term, equation,
                             shape.str());
    }
    for (char label : distinct) ++uses[label];
  }
  for (const auto& [label, count] : uses) {
    if (count > 2 && !has(e.output, label)) return multiply_all(e, values);
  }
  Term total{values[0], e.terms[0]};
  for (size_t i = 1; i < values.size(); ++i) {
    // TensorFlow looks at the result alone here: an index of a later term is not in three terms, so it is not shared.
    total = multiply_terms(g, total, {values[i], e.terms[i]}, e.output);
  }
  std::vector<int> axes;
  for (size_t i = 0; i < total.labels.size(); ++i) {
    if (!has(e.output, total.labels[i])) axes.push_back(static_cast<int>(i));
  }
  if (!axes.empty()) {
    total.value = reduce_sum(total.value, axes, false);
    std::erase_if(total.labels, [&](char l) { return !has(e.output, l); });
  }
  return transpose_to(total.value, total.labels, e.output);
}

}  // namespace weir
