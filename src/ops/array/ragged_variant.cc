#include "graph/infer_context.h"
#include "ops/array/ragged.h"
#include "tensor/variant.h"

// Ragged tensors as elements: the whole, or each of its rows, behind a variant.
namespace weir::ops {
namespace {

class RaggedVariant final : public VariantObject {
 public:
  RaggedVariant(std::vector<std::vector<int64_t>> nested_splits, Tensor dense_values)
      : splits(std::move(nested_splits)), values(std::move(dense_values)) {}
  Variant mapped(FunctionRef<Tensor(const Tensor&)> f) const override {
    return std::make_shared<RaggedVariant>(splits, f(values));
  }
  const std::vector<std::vector<int64_t>> splits;
  const Tensor values;
};

int attr_of(const AttrMap& attrs, const char* name) { return static_cast<int>(attrs.get<int64_t>(name)); }

void infer_to(InferContext& c) {
  const int rank = attr_of(c.attrs(), "RAGGED_RANK");
  for (int i = 0; i < rank; ++i) c.require_rank(i, 1);
  c.require_min_rank(rank, 1);
  if (!c.attr<bool>("batched_input")) return c.set_output(0, Shape{});
  const Shape& rows = c.input(0);
  c.set_output(0, Shape{rows.has_rank() && rows[0] != kUnknown ? rows[0] - 1 : kUnknown});
}

void to_cpu(KernelContext& c) {
  const int rank = attr_of(c.node().attrs(), "RAGGED_RANK");
  const Tensor values = c.input_tensor(rank);
  auto nested = read_nested_splits(c, 0, rank, values.shape()[0]);
  if (!c.node().attr<bool>("batched_input")) {
    return c.set_output(0, variant_tensor(std::make_shared<RaggedVariant>(std::move(nested), values)));
  }
  const auto rows = static_cast<int64_t>(nested[0].size()) - 1;
  Tensor all(DType::Variant, Shape{rows});
  for (int64_t i = 0; i < rows; ++i) {
    int64_t begin = nested[0][static_cast<size_t>(i)], end = nested[0][static_cast<size_t>(i + 1)];
    std::vector<std::vector<int64_t>> inner;
    for (size_t d = 1; d < nested.size(); ++d) {
      std::vector<int64_t> splits;
      for (int64_t at = begin; at <= end; ++at) {
        splits.push_back(nested[d][static_cast<size_t>(at)] - nested[d][static_cast<size_t>(begin)]);
      }
      begin = nested[d][static_cast<size_t>(begin)];
      end = nested[d][static_cast<size_t>(end)];
      inner.push_back(std::move(splits));
    }
    static_cast<Variant*>(all.mutable_raw())[i] =
        std::make_shared<RaggedVariant>(std::move(inner), copy_rows(values, begin, end));
  }
  c.set_output(0, std::move(all));
}

void infer_from(InferContext& c) {
  const int out = attr_of(c.attrs(), "output_ragged_rank");
  int in = attr_of(c.attrs(), "input_ragged_rank");
  if (c.input(0).has_rank()) {
    if (in == -1) in = out - c.input(0).rank();
    if (in < 0 || out != in + c.input(0).rank()) {
      throw invalid_argument(
          "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.ndims; output_ragged_rank: {}, "
          "input_ragged_rank: {}, encoded_ragged.ndims: {}",
          out, in, c.input(0).rank());
    }
  }
  for (int i = 0; i < out; ++i) c.set_output(i, Shape{kUnknown});
}

void from_cpu(KernelContext& c) {
  const int out = attr_of(c.node().attrs(), "output_ragged_rank");
  const Shape& shape = c.shape(0);
  const int outer = shape.rank(), in = out - outer, said = attr_of(c.node().attrs(), "input_ragged_rank");
  if (in < 0 || (said != -1 && said != in)) {
    throw invalid_argument("output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.ndims");
  }
  const DType split_type = c.node().type("Tsplits"), value_type = c.node().type("Tvalues");
  const auto* elements = static_cast<const Variant*>(c.raw_input(0));
  std::vector<std::vector<int64_t>> nested(static_cast<size_t>(out));
  for (int d = 0; d + 1 < outer; ++d) {
    for (int64_t i = 0; i <= product(shape, 0, d + 1); ++i) nested[static_cast<size_t>(d)].push_back(i * shape[d + 1]);
  }
  for (int d = std::max(0, outer - 1); d < out; ++d) nested[static_cast<size_t>(d)].push_back(0);
  std::vector<Tensor> values;
  for (int64_t i = 0; i < c.elements(0); ++i) {
    const auto* ragged = dynamic_cast<const RaggedVariant*>(elements[i].get());
    if (!ragged) throw invalid_argument("Input Variant element at index {} doesn't hold a RaggedTensor", i);
    if (static_cast<int>(ragged->splits.size()) != in) {
      throw invalid_argument("Encoded input RaggedTensorVariant has ragged_rank={}. Expected ragged_rank={}.",
                             ragged->splits.size(), in);
    }
    if (ragged->values.dtype() != value_type) {
      throw invalid_argument("Expected values Tensor dtype: {}, found: {}", dtype_name(value_type),
                             dtype_name(ragged->values.dtype()));
    }
    const int64_t rows = in > 0 ? static_cast<int64_t>(ragged->splits[0].size()) - 1 : ragged->values.shape()[0];
    if (outer > 0) {
      auto& splits = nested[static_cast<size_t>(outer - 1)];
      splits.push_back(splits.back() + rows);
    }
    for (int d = 0; d < in; ++d) {
      auto& splits = nested[static_cast<size_t>(outer + d)];
      const int64_t before = splits.back();
      const auto& own = ragged->splits[static_cast<size_t>(d)];
      for (size_t k = 1; k < own.size(); ++k) splits.push_back(before + own[k]);
    }
    values.push_back(ragged->values);
  }
  for (int d = 0; d < out; ++d) c.set_output(d, splits_tensor(nested[static_cast<size_t>(d)], split_type));
  c.set_output(out, values.empty() ? Tensor(value_type, Shape{0}) : values.size() == 1 ? values[0] : join_rows(values));
}

}  // namespace

OpDef ragged_tensor_to_variant_op() {
  return {.name = "RaggedTensorToVariant",
          .inputs = "rt_nested_splits:RAGGED_RANK*Tsplits; rt_dense_values:Tvalues",
          .outputs = "encoded_ragged:variant",
          .attrs = "RAGGED_RANK:int>=1; Tvalues:type; Tsplits:type{int32,int64}; batched_input:bool",
          .infer = infer_to,
          .cpu = {.select = [](const NodeView& node) -> ComputeFn {
                    return dtype_size(node.type("Tvalues")) == 0 ? nullptr : to_cpu;
                  },
                  .gives_outputs = true}};
}

OpDef ragged_tensor_from_variant_op() {
  return {.name = "RaggedTensorFromVariant",
          .inputs = "encoded_ragged:variant",
          .outputs = "output_nested_splits:output_ragged_rank*Tsplits; output_dense_values:Tvalues",
          .attrs = "input_ragged_rank:int>=-1; output_ragged_rank:int>=1; Tvalues:type; Tsplits:type{int32,int64}",
          .infer = infer_from,
          .cpu = {.select = [](const NodeView& node) -> ComputeFn {
                    return dtype_size(node.type("Tvalues")) == 0 ? nullptr : from_cpu;
                  },
                  .gives_outputs = true}};
}

}  // namespace weir::ops
