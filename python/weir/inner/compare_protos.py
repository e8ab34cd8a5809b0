"""tensorflow.python.util.protobuf.compare: messages in tests."""

import difflib

from google.protobuf import text_format


def assertProtoEqual(self, a, b, check_initialized=True, normalize_numbers=False, msg=None):  # noqa: N802
    """Fails a test unless two messages are equal; ``a`` may be text."""
    if isinstance(a, str):
        a = text_format.Merge(a, b.__class__())
    for message in (a, b):
        if check_initialized and not message.IsInitialized():
            self.fail(f"Initialization errors: {message.FindInitializationErrors()}")
    if normalize_numbers:
        a, b = NormalizeNumberFields(a), NormalizeNumberFields(b)
    if not ProtoEq(a, b):
        self.assertMultiLineEqual(text_format.MessageToString(a), text_format.MessageToString(b), msg=msg)
        self.fail("\n".join(difflib.ndiff(str(a).splitlines(), str(b).splitlines())))


def NormalizeNumberFields(pb):  # noqa: N802
    """The message with floats rounded to what single precision keeps, in place."""
    for field, value in pb.ListFields():
        repeated = hasattr(value, "extend")
        if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
            if repeated:
                rounded = [round(item, 6) for item in value]
                pb.ClearField(field.name)
                getattr(pb, field.name).extend(rounded)
            else:
                setattr(pb, field.name, round(value, 6))
        elif field.cpp_type == field.CPPTYPE_MESSAGE:
            items = value.values() if hasattr(value, "values") else value if repeated else [value]
            for item in items:
                if hasattr(item, "ListFields"):
                    NormalizeNumberFields(item)
    return pb


def ProtoEq(a, b):  # noqa: N802
    return type(a) is type(b) and a == b or not hasattr(a, "ListFields") and a == b


class ProtoAssertions:
    """A mixin of test cases: assertProtoEqual."""

    def assertProtoEqual(self, *args, **kwargs):  # noqa: N802
        return assertProtoEqual(self, *args, **kwargs)
