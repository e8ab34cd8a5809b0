#include "ops/list/tensor_list.h"

#include "base/errors.h"
#include "tensor/elements.h"
#include "weir/ops.h"

namespace weir::ops {

struct TensorList::Tree {
  Element element;  // null when it was never written
  TreePtr newer, older;

  static void visit(const Tree* tree, int64_t size, int64_t last, FunctionRef<void(int64_t, const Tensor&)> f) {
    if (!tree) return;
    if (tree->element) f(last, *tree->element);
    visit(tree->newer.get(), size / 2, last - 1, f);
    visit(tree->older.get(), size / 2, last - 1 - size / 2, f);
  }

  static TreePtr mapped(const Tree* tree, FunctionRef<Tensor(const Tensor&)> f) {
    if (!tree) return nullptr;
    Element element = tree->element ? std::make_shared<const Tensor>(f(*tree->element)) : nullptr;
    return std::make_shared<const Tree>(
        Tree{std::move(element), mapped(tree->newer.get(), f), mapped(tree->older.get(), f)});
  }

  static TreePtr plus(const TreePtr& a, const TreePtr& b, FunctionRef<Tensor(const Tensor&, const Tensor&)> add) {
    if (!a || !b) return a ? a : b;
    Element sum = !a->element   ? b->element
                  : !b->element ? a->element
                                : std::make_shared<const Tensor>(add(*a->element, *b->element));
    return std::make_shared<const Tree>(
        Tree{std::move(sum), plus(a->newer, b->newer, add), plus(a->older, b->older, add)});
  }
};

struct TensorList::Digit {
  int64_t size;  // of the tree: 2^k - 1
  TreePtr tree;
  DigitPtr rest;

  static DigitPtr make(int64_t size, TreePtr tree, DigitPtr rest) {
    return std::make_shared<const Digit>(Digit{size, std::move(tree), std::move(rest)});
  }
  static DigitPtr mapped(const Digit* digit, FunctionRef<Tensor(const Tensor&)> f) {
    if (!digit) return nullptr;
    return make(digit->size, Tree::mapped(digit->tree.get(), f), mapped(digit->rest.get(), f));
  }
  static DigitPtr plus(const Digit* a, const Digit* b, FunctionRef<Tensor(const Tensor&, const Tensor&)> add) {
    if (!a) return nullptr;
    return make(a->size, Tree::plus(a->tree, b->tree, add), plus(a->rest.get(), b->rest.get(), add));
  }
};

TensorList::TensorList(DType dtype, Shape element_shape, int64_t length, int64_t max_length)
    : dtype_(dtype),
      element_shape_(std::move(element_shape)),
      length_(length),
      max_length_(max_length),
      digits_(reserved(length)) {}

TensorList::DigitPtr TensorList::reserved(int64_t length) {
  DigitPtr digits;
  int64_t size = 1;
  while (size <= length / 2) size = 2 * size + 1;
  for (; length > 0; length -= size) {
    while (size > length) size /= 2;
    digits = Digit::make(size, nullptr, std::move(digits));
  }
  return digits;
}

TensorList::DigitPtr TensorList::push(DigitPtr digits, Element element) {
  auto tree = [&](TreePtr newer, TreePtr older) -> TreePtr {
    if (!element && !newer && !older) return nullptr;
    return std::make_shared<const Tree>(Tree{std::move(element), std::move(newer), std::move(older)});
  };
  const Digit* second = digits ? digits->rest.get() : nullptr;
  if (second && second->size == digits->size) {
    return Digit::make(2 * second->size + 1, tree(digits->tree, second->tree), second->rest);
  }
  return Digit::make(1, tree(nullptr, nullptr), std::move(digits));
}

TensorList::DigitPtr TensorList::pop(const Digit& digits) {
  if (digits.size == 1) return digits.rest;
  const int64_t half = digits.size / 2;
  const Tree* tree = digits.tree.get();
  return Digit::make(half, tree ? tree->newer : nullptr, Digit::make(half, tree ? tree->older : nullptr, digits.rest));
}

TensorList::TreePtr TensorList::set_in(const Tree* tree, int64_t size, int64_t from_end, Element element) {
  auto copy = tree ? std::make_shared<Tree>(*tree) : std::make_shared<Tree>();
  const int64_t half = size / 2;
  if (from_end == 0) {
    copy->element = std::move(element);
  } else if (from_end <= half) {
    copy->newer = set_in(copy->newer.get(), half, from_end - 1, std::move(element));
  } else {
    copy->older = set_in(copy->older.get(), half, from_end - 1 - half, std::move(element));
  }
  return copy;
}

TensorList::DigitPtr TensorList::set(const Digit& digits, int64_t from_end, Element element) {
  if (from_end >= digits.size) {
    return Digit::make(digits.size, digits.tree, set(*digits.rest, from_end - digits.size, std::move(element)));
  }
  return Digit::make(digits.size, set_in(digits.tree.get(), digits.size, from_end, std::move(element)), digits.rest);
}

ListPtr TensorList::changed(int64_t length, DigitPtr digits) const {
  return ListPtr(new TensorList(*this, length, std::move(digits)));
}

const Tensor* TensorList::at(int64_t index) const {
  int64_t from_end = length_ - 1 - index;
  const Digit* digit = digits_.get();
  for (; from_end >= digit->size; digit = digit->rest.get()) from_end -= digit->size;
  const Tree* tree = digit->tree.get();
  for (int64_t half = digit->size / 2; tree && from_end > 0; half /= 2) {
    const bool newer = from_end <= half;
    from_end -= newer ? 1 : 1 + half;
    tree = (newer ? tree->newer : tree->older).get();
  }
  return tree ? tree->element.get() : nullptr;
}

void TensorList::visit(FunctionRef<void(int64_t, const Tensor&)> f) const {
  int64_t last = length_ - 1;
  for (const Digit* digit = digits_.get(); digit; digit = digit->rest.get()) {
    Tree::visit(digit->tree.get(), digit->size, last, f);
    last -= digit->size;
  }
}

Variant TensorList::mapped(FunctionRef<Tensor(const Tensor&)> f) const {
  return changed(length_, Digit::mapped(digits_.get(), f));
}

ListPtr TensorList::with(int64_t index, Tensor tensor) const {
  return changed(length_, set(*digits_, length_ - 1 - index, std::make_shared<const Tensor>(std::move(tensor))));
}

ListPtr TensorList::pushed(Tensor tensor) const {
  return changed(length_ + 1, push(digits_, std::make_shared<const Tensor>(std::move(tensor))));
}

ListPtr TensorList::popped() const { return changed(length_ - 1, pop(*digits_)); }

ListPtr TensorList::resized(int64_t length) const {
  // One by one while that is quick, and otherwise if that is less than what was written: lists may be reserved at any
  // length for nothing.
  constexpr int64_t kFew = 1 << 12;
  const int64_t difference = std::abs(length - length_);
  int64_t written = 0;
  if (difference > kFew) visit([&](int64_t, const Tensor&) { ++written; });
  DigitPtr digits = digits_;
  if (difference <= std::max(kFew, written)) {
    for (int64_t i = length_; i < length; ++i) digits = push(std::move(digits), nullptr);
    for (int64_t i = length_; i > length; --i) digits = pop(*digits);
  } else {
    digits = reserved(length);
    visit([&](int64_t i, const Tensor& tensor) {
      if (i < length) digits = set(*digits, length - 1 - i, std::make_shared<const Tensor>(tensor));
    });
  }
  return changed(length, std::move(digits));
}

ListPtr TensorList::plus(const TensorList& other, FunctionRef<Tensor(const Tensor&, const Tensor&)> add) const {
  return changed(length_, Digit::plus(digits_.get(), other.digits_.get(), add));
}

ListPtr list_input(const KernelContext& c, int index) {
  const auto* element = c.input<Variant>(index);
  auto list = element && c.shape(index).is_scalar() ? std::dynamic_pointer_cast<const TensorList>(*element) : nullptr;
  if (!list) throw invalid_argument("input {} is no list of tensors", index);
  if (const AttrValue* dtype = c.node().attrs().find("element_dtype");
      dtype && std::get<DType>(*dtype) != list->dtype()) {
    throw invalid_argument("a list of {} is given where one of {} is wanted", dtype_name(list->dtype()),
                           dtype_name(std::get<DType>(*dtype)));
  }
  return list;
}

void set_list_output(KernelContext& c, int index, ListPtr list) {
  c.set_output(index, variant_tensor(std::move(list)));
}

void require_fit(const Shape& shape, const TensorList& list) {
  if (shape.compatible(list.element_shape())) return;
  throw invalid_argument("a tensor of shape {} is written into a list whose elements have shape {}", shape.str(),
                         list.element_shape().str());
}

Tensor element_input(const KernelContext& c, int index, const TensorList& list) {
  if (!c.raw_input(index)) return {};
  require_fit(c.shape(index), list);
  return c.input_tensor(index);
}

RowsInput::RowsInput(const KernelContext& c, int index, int64_t elements) : whole_(c.input_tensor(index)) {
  // Rows may have no bytes at all, so the tensor's own memory says nothing about how many there are.
  constexpr int64_t kMost = int64_t{1} << 26;
  if (elements > kMost) throw error(Code::ResourceExhausted, "a list of {} elements; at most {} fit", elements, kMost);
}

Tensor RowsInput::part(int64_t begin, std::optional<int64_t> rows) const {
  Shape shape(whole_.shape().dims().subspan(1));
  const int64_t row_elements = shape.elements();
  if (rows) shape = with_leading(*rows, shape);
  auto* data = static_cast<char*>(const_cast<void*>(whole_.raw()));
  whole_.buffer()->retain();
  return Tensor(whole_.dtype(), shape, whole_.buffer(),
                data + static_cast<size_t>(begin * row_elements) * dtype_size(whole_.dtype()));
}

void require_row_shape(const KernelContext& c, int index, const TensorList& list) {
  require_fit(Shape(c.shape(index).dims().subspan(1)), list);
}

Shape element_shape_input(InferContext& c, int index) {
  if (!c.input(index).has_rank() || c.input(index).rank() == 0) return Shape::unknown();
  return c.value_as_shape(index);
}

Shape shape_of_element(InferContext& c, int list, const Shape& wanted) {
  const Elements elements = c.elements(list);
  // Elements that were never written have the wanted shape, or make the run fail when that is not fully known.
  if (elements.none || wanted.is_known() || !elements.shape.compatible(wanted)) return wanted;
  return elements.shape.merged(wanted);
}

Shape element_shape_value(const KernelContext& c, int index) {
  constexpr int64_t kMaxRank = 254;  // TensorFlow's
  const Shape values = values_as_shape(c.input_tensor(index));
  if (c.shape(index).is_scalar()) {
    if (values[0] != kUnknown) throw invalid_argument("element_shape is {}; a scalar must be -1", values[0]);
    return Shape::unknown();
  }
  if (c.shape(index).rank() != 1 || values.rank() > kMaxRank) {
    throw invalid_argument("element_shape has shape {}; a vector of at most {} sizes is wanted", c.shape(index).str(),
                           kMaxRank);
  }
  for (int64_t size : values.dims()) {
    if (size < kUnknown) throw invalid_argument("element_shape has the size {}", size);
  }
  return values;
}

Shape merged_element_shape(const TensorList& list, const Shape& wanted) {
  if (!wanted.compatible(list.element_shape())) {
    throw invalid_argument("Incompatible element shapes: the operation says {}, the list {}", wanted.str(),
                           list.element_shape().str());
  }
  return wanted.merged(list.element_shape());
}

void give_element(KernelContext& c, int output, const TensorList& list, int64_t index, const Shape& wanted) {
  const Shape shape = merged_element_shape(list, wanted);
  const Tensor* tensor = list.at(index);
  if (tensor && !tensor->valid()) return;
  if (!tensor && !shape.is_known()) {
    throw invalid_argument(
        "Trying to read an uninitialized tensor but element_shape is not fully defined: element {} "
        "of shape {}",
        index, shape.str());
  }
  if (tensor && !tensor->shape().compatible(shape)) {
    throw invalid_argument("element {} has shape {}; {} is wanted", index, tensor->shape().str(), shape.str());
  }
  c.set_output(output, tensor ? *tensor : Tensor::zeros(list.dtype(), shape));
}

Shape with_leading(int64_t first, const Shape& element) {
  if (!element.has_rank()) return Shape::unknown();
  Shape shape{first};
  for (int64_t dim : element.dims()) shape.append(dim);
  return shape;
}

Output row_shape(const Output& x) { return slice(shape(x), {1}, {-1}); }

}  // namespace weir::ops
