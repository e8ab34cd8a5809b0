"""Static shapes: what is known of a tensor's sizes when the graph is built."""

from weir import protos


class Dimension:
    """One size, known or not. Arithmetic and comparisons with an unknown one give an unknown one, or None."""

    __slots__ = ("_dimension",)

    def __init__(self, value):
        if isinstance(value, Dimension):
            value = value._dimension
        elif value is not None:
            number = value.__index__() if hasattr(value, "__index__") else int(value)
            if not isinstance(value, (str, bytes)) and number != value:
                raise ValueError(f"Ambiguous dimension: {value}")
            value = number
            if value < 0:
                raise ValueError(f"Dimension {value} must be >= 0")
        self._dimension = value

    value = property(lambda self: self._dimension)
    _value = value  # which libraries read

    def __repr__(self):
        return f"Dimension({self._dimension})"

    def __str__(self):
        return "?" if self._dimension is None else str(self._dimension)

    def __eq__(self, other):
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._dimension is None or other._dimension is None:
            return None
        return self._dimension == other._dimension

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal in (None, NotImplemented) else not equal

    def __hash__(self):
        return hash(self._dimension)

    def __int__(self):
        return self._dimension

    def __index__(self):
        if self._dimension is None:
            raise TypeError("an unknown Dimension cannot be used as an index")
        return self._dimension

    def __bool__(self):
        return bool(self._dimension)

    def is_compatible_with(self, other):
        other = as_dimension(other)
        return None in (self._dimension, other._dimension) or self._dimension == other._dimension

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other):
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._dimension if self._dimension is None else self._dimension)

    def _with(self, other, operation):
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._dimension is None or other._dimension is None:
            return Dimension(None)
        return Dimension(operation(self._dimension, other._dimension))

    def _compare(self, other, operation):
        other = as_dimension(other)
        if self._dimension is None or other._dimension is None:
            return None
        return operation(self._dimension, other._dimension)

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, other):
        return self._with(other, lambda a, b: a // b)

    __div__ = __floordiv__

    def __truediv__(self, other):
        raise TypeError(f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please use // instead")

    def __rfloordiv__(self, other):
        return self._with(other, lambda a, b: b // a)

    def __mod__(self, other):
        return self._with(other, lambda a, b: a % b)

    def __rmod__(self, other):
        return self._with(other, lambda a, b: b % a)

    def __lt__(self, other):
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other):
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._compare(other, lambda a, b: a >= b)

    def __reduce__(self):
        return Dimension, (self._dimension,)


def as_dimension(value):
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension):
    return dimension.value if isinstance(dimension, Dimension) else dimension


class TensorShape:
    """Sizes of a tensor, each known or None, or nothing at all (``TensorShape(None)``)."""

    __slots__ = ("_dims",)
    _v2_behavior = False  # libraries ask whether sizes are plain numbers; they are Dimensions

    def __init__(self, dims):
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, (str, bytes)):
            raise TypeError(f"A string has ambiguous TensorShape, please wrap in a list or convert to an int: {dims!r}")
        elif hasattr(dims, "unknown_rank") and hasattr(dims, "dim"):  # TensorShapeProto
            self._dims = None if dims.unknown_rank else tuple(None if d.size == -1 else d.size for d in dims.dim)
        else:
            try:
                items = list(dims)
            except TypeError:
                items = [dims]
            self._dims = tuple(as_dimension(item).value for item in items)

    @property
    def dims(self):
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    @property
    def ndims(self):
        return None if self._dims is None else len(self._dims)

    rank = ndims

    def as_list(self):
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self):
        if self._dims is None:
            return protos.TensorShapeProto(unknown_rank=True)
        proto = protos.TensorShapeProto()
        for size in self._dims:
            proto.dim.add().size = -1 if size is None else size
        return proto

    def num_elements(self):
        if not self.is_fully_defined():
            return None
        product = 1
        for size in self._dims:
            product *= size
        return product

    def is_fully_defined(self):
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self):
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            None in pair or pair[0] == pair[1] for pair in zip(self._dims, other._dims))

    def most_specific_compatible_shape(self, other):
        """The shape that both are special cases of, with as much known as there can be."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(self._dims, other._dims)])

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {as_shape(other)} are incompatible")

    def assert_same_rank(self, other):
        other = as_shape(other)
        if None not in (self.ndims, other.ndims) and self.ndims != other.ndims:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank):
        if self.ndims not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank):
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank):
        if self.ndims is not None and self.ndims < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        if self.ndims is not None and self.ndims > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def merge_with(self, other):
        other = as_shape(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape([b if a is None else a for a, b in zip(self._dims, other._dims)])

    def concatenate(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def __len__(self):
        if self._dims is None:
            raise ValueError("Cannot take the length of Shape with unknown rank.")
        return len(self._dims)

    def __bool__(self):
        return self._dims is not None

    def __iter__(self):
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter([Dimension(d) for d in self._dims])

    def __getitem__(self, key):
        if self._dims is None:
            if isinstance(key, slice):
                return TensorShape(None)
            return Dimension(None)
        if isinstance(key, slice):
            return TensorShape(self._dims[key])
        return Dimension(self._dims[key])

    def __eq__(self, other):
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        # An unknown size equals nothing, not even another unknown size.
        return self._dims is other._dims or self._dims == other._dims and None not in self._dims

    def __ne__(self, other):
        equal = self.__eq__(other)
        if equal is NotImplemented:
            return equal
        if self._dims is None or TensorShape(other)._dims is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not equal

    def __hash__(self):
        return hash(self._dims)

    def __repr__(self):
        return "TensorShape(None)" if self._dims is None else f"TensorShape({self.dims})"

    def __str__(self):
        if self._dims is None:
            return "<unknown>"
        if len(self._dims) == 1:
            return f"({Dimension(self._dims[0])},)"
        return "(" + ", ".join(str(Dimension(d)) for d in self._dims) + ")"

    def __reduce__(self):
        return TensorShape, (self._dims,)


def as_shape(shape):
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(ndims=None):
    return TensorShape(None) if ndims is None else TensorShape([None] * ndims)


def scalar():
    return TensorShape([])


def vector(length):
    return TensorShape([length])


def matrix(rows, cols):
    return TensorShape([rows, cols])
