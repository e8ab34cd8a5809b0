"""tf.errors: one exception class per status code, as TensorFlow names them.

`from_parts` is what the extension calls when the engine reports an error; programs catch the classes and read
`message`, `error_code`, `op` and `node_def`.
"""

from weir import protos as _protos

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16

# A message longer than this is cut in str(); `message` keeps all of it.
_MAX_LINES = 20
_MAX_CHARS = 2400


class OpError(Exception):
    """An operation failed at run time.

    `message` is the whole message, `error_code` the status code, `op` the Operation that failed (None when it is not
    in the caller's graph) and `node_def` its NodeDef (None when unknown). str() is at most a screen long.
    """

    def __init__(self, node_def, op, message, error_code):
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._node = None  # (node name, operation type) when there is no NodeDef yet
        self._origin = ""  # "[[node ...]]", shown behind the message

    @property
    def message(self):
        return self._message

    @property
    def error_code(self):
        return self._error_code

    @property
    def op(self):
        return self._op

    @property
    def node_def(self):
        if self._node_def is None:
            if self._op is not None:
                self._node_def = getattr(self._op, "node_def", None)
            elif self._node is not None:
                self._node_def = _protos.NodeDef(name=self._node[0], op=self._node[1])
        return self._node_def

    def __str__(self):
        message = str(self._message)
        cut = message[:_MAX_CHARS]
        lines = cut.split("\n")
        if len(cut) < len(message) or len(lines) > _MAX_LINES:
            cut = "\n".join(lines[:_MAX_LINES]) + "\n... (cut; the attribute `message` has all of it)"
        return cut + self._origin

    def __repr__(self):
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self):
        # Operations do not cross processes; what is left of them is the text.
        state = {"_node": self._node, "_origin": self._origin}
        if type(self) is OpError:
            return OpError, (None, None, self._message, self._error_code), state
        return type(self), (None, None, self._message), state


def _error_class(name, code, doc):
    def __init__(self, node_def, op, message):
        OpError.__init__(self, node_def, op, message, code)

    return type(name, (OpError,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


CancelledError = _error_class("CancelledError", CANCELLED, "The session, queue or coordinator was closed meanwhile.")
UnknownError = _error_class("UnknownError", UNKNOWN, "The cause is not known.")
InvalidArgumentError = _error_class(
    "InvalidArgumentError", INVALID_ARGUMENT, "An operation got a value, shape or type that it cannot take."
)
DeadlineExceededError = _error_class(
    "DeadlineExceededError", DEADLINE_EXCEEDED, "The time limit of the run passed first."
)
NotFoundError = _error_class("NotFoundError", NOT_FOUND, "A file, variable or other thing asked for does not exist.")
AlreadyExistsError = _error_class("AlreadyExistsError", ALREADY_EXISTS, "What should be made exists already.")
PermissionDeniedError = _error_class("PermissionDeniedError", PERMISSION_DENIED, "The caller may not do this.")
UnauthenticatedError = _error_class("UnauthenticatedError", UNAUTHENTICATED, "The caller is not known.")
ResourceExhaustedError = _error_class("ResourceExhaustedError", RESOURCE_EXHAUSTED, "Memory or disk ran out.")
FailedPreconditionError = _error_class(
    "FailedPreconditionError", FAILED_PRECONDITION, "Something must be done first, such as initialising a variable."
)
AbortedError = _error_class("AbortedError", ABORTED, "The operation was aborted, for example by another one.")
OutOfRangeError = _error_class(
    "OutOfRangeError", OUT_OF_RANGE, "The input has ended: a closed queue, a file, a data set."
)
UnimplementedError = _error_class("UnimplementedError", UNIMPLEMENTED, "Weir has no implementation of this.")
InternalError = _error_class("InternalError", INTERNAL, "A fault of Weir itself.")
UnavailableError = _error_class("UnavailableError", UNAVAILABLE, "Another process cannot be reached now.")
DataLossError = _error_class("DataLossError", DATA_LOSS, "Data is damaged: a checksum or a length is wrong.")

_CLASS_BY_CODE = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}
_CODE_BY_CLASS = {error: code for code, error in _CLASS_BY_CODE.items()}


def exception_type_from_error_code(error_code):
    """The class for a status code. Raises KeyError for OK and for numbers that are no code."""
    return _CLASS_BY_CODE[error_code]


def error_code_from_exception_type(cls):
    """The status code of a class; UNKNOWN for any other class."""
    return _CODE_BY_CLASS.get(cls, UNKNOWN)


def from_parts(code, message, op_type=None, node_name=None, file=None, line=None, op=None):
    """The exception for an error of the engine; does not raise it.

    `op_type` and `node_name` name the node that failed, `file` and `line` the place of the user's program that made
    it; each may be None or empty. They are added to str() unless the message tells them already.
    """
    cls = _CLASS_BY_CODE.get(code)
    error = OpError(None, op, message, code) if cls is None else cls(None, op, message)
    if node_name:
        error._node = (node_name, op_type or "")
        place = f"{file}:{line}" if file and line else file or ""
        if f"'{node_name}'" not in message or (place and place not in message):
            kind = f" ({op_type})" if op_type else ""
            made = f" made at {place}" if place else ""
            error._origin = f"\n\t [[node '{node_name}'{kind}{made}]]"
    return error


# What the engine says beside the code of an error that it finds while a graph is built (weir::Fault).
_VALUE, _TYPE = 0, 1

# The class of Python's own for such an error, as in TensorFlow: by what was wrong, and else by its code.
_BUILTIN_BY_FAULT = {_TYPE: TypeError}
_BUILTIN_BY_CODE = {
    UNIMPLEMENTED: NotImplementedError,
    NOT_FOUND: LookupError,
    FAILED_PRECONDITION: RuntimeError,  # the graph is finalized
}
_BUILTIN_OTHERWISE = ValueError


def _building_class(code, fault):
    """A class for mistakes in building a graph: Python's, as in TensorFlow, by name as well. TensorFlow finds some of them
    only when the graph runs, and raises the class of their code then; who waits for that is served too."""
    builtin = _BUILTIN_BY_FAULT.get(fault) or _BUILTIN_BY_CODE.get(code, _BUILTIN_OTHERWISE)

    def __reduce__(self):
        return of_building, (code, fault, self.message)

    return type(builtin.__name__, (_CLASS_BY_CODE[code], builtin),
                {"__doc__": builtin.__doc__, "__module__": builtin.__module__, "__reduce__": __reduce__})


_BUILDING = {(code, fault): _building_class(code, fault) for code in _CLASS_BY_CODE for fault in (_VALUE, _TYPE)}


def of_building(code, fault, message):
    """The exception for an error that the engine finds while a graph is built; does not raise it."""
    error = _BUILDING[code, fault](None, None, message)
    error.args = (message,)
    return error


class raise_exception_on_not_ok_status:
    """Context manager that gives a status with `code` and `message`, and raises at the end if the code is not OK."""

    def __init__(self):
        self.code = OK
        self.message = ""

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if kind is None and self.code != OK:
            raise from_parts(self.code, self.message)
        return False


def _make_specific_exception(node_def, op, message, error_code):
    """The exception of a code; UnknownError with it where there is no class."""
    error = _CLASS_BY_CODE.get(error_code)
    if error is not None:
        return error(node_def, op, message)
    import warnings

    warnings.warn(f"Unknown error code: {error_code}")
    unknown = UnknownError(node_def, op, message)
    unknown._error_code = error_code
    return unknown


def __getattr__(name):
    if name == "_impl":  # where TensorFlow keeps the classes
        import sys

        return sys.modules[__name__]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
