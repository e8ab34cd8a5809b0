"""tf.app.flags: command-line flags as TensorFlow programs define and read them.

    flags.DEFINE_integer("steps", 100, "how long to train")
    FLAGS = flags.FLAGS
    FLAGS.steps                  # parses sys.argv on the first access

Accepted are --name=value, --name value, --name and --noname for booleans, and all of these with one dash. What is no
known flag is left for the program. Both generations of TensorFlow's interface are here: that of 0.x to 1.4
(`_parse_flags`, `__flags`) and that of 1.5 to 1.15, which is absl's.
"""

import operator
import os
import sys

_TRUE = ("true", "t", "1", "yes", "y", "on")
_FALSE = ("false", "f", "0", "no", "n", "off")


class Error(Exception):
    """What this module raises."""


class DuplicateFlagError(Error):
    """A flag is defined twice with different meanings."""


class IllegalFlagValueError(Error):
    """A value does not suit its flag."""


class ValidationError(Error):
    """A validator refuses the values."""


class UnrecognizedFlagError(Error, AttributeError):
    """There is no such flag."""


class UnparsedFlagAccessError(Error):
    """Never raised, for flags parse themselves; programs may name it."""


class Flag:
    """One flag. Behaves like its value where programs of TensorFlow 0.x expect the bare value (`FLAGS.__flags`)."""

    def __init__(self, name, default, help, parse, kind, boolean=False, multiple=False, short_name=None):
        self.name = name
        self.default = default
        self.help = help or ""
        self.kind = kind
        self.boolean = boolean
        self.multiple = multiple
        self.short_name = short_name
        self.present = 0  # how often the command line gave it
        self.parsed = False
        self.value = default
        self.required = False
        self._parse = parse

    def parse(self, text):
        """Takes one value of the command line. Raises IllegalFlagValueError."""
        try:
            value = self._parse(text)
        except (ValueError, TypeError) as error:
            reason = str(error) or f"expected {self.kind}"
            raise IllegalFlagValueError(f"flag --{self.name}={text}: {reason}") from None
        if self.multiple:
            value = (self.value if self.present else []) + value
        self.value = value
        self.present += 1

    def unparse(self):
        self.value = self.default
        self.present = 0
        self.parsed = False

    def __str__(self):
        return str(self.value)

    __repr__ = __str__

    def __format__(self, spec):
        return format(self.value, spec)

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, Flag) else other)

    def __hash__(self):
        return hash(self.name)

    def __lt__(self, other):  # sorted(FLAGS.__flags.items())
        return self.name < other.name if isinstance(other, Flag) else self.value < other

    def __bool__(self):
        return bool(self.value)

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def __index__(self):
        return self.value.__index__()

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return iter(self.value)

    def __getitem__(self, key):
        return self.value[key]

    def __contains__(self, item):
        return item in self.value

    def __fspath__(self):
        return os.fspath(self.value)

    def __getattr__(self, name):
        if name.startswith("_") or "value" not in self.__dict__:
            raise AttributeError(f"'Flag' object has no attribute {name!r}")
        return getattr(self.value, name)  # flag.split(",")


def _on_value(function, swapped):
    """A method of Flag: the operator on its value."""
    def method(self, other):
        other = other.value if isinstance(other, Flag) else other
        return function(other, self.value) if swapped else function(self.value, other)

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Flag, f"__{_name}__", _on_value(getattr(operator, _name), False))
    setattr(Flag, f"__r{_name}__", _on_value(getattr(operator, _name), True))
for _name in ("le", "gt", "ge"):
    setattr(Flag, f"__{_name}__", _on_value(getattr(operator, _name), False))


def _flags_of_absl():
    """The flags that the program and its libraries define with the package absl, which TensorFlow 1.5 and later share; None
    where absl is not loaded or is this module."""
    module = sys.modules.get("absl.flags")
    return None if module is None or module is sys.modules[__name__] else getattr(module, "FLAGS", None)


class FlagValues:
    """The flags of a program: attributes are values, items are Flag objects."""

    def __init__(self):
        # Under these names because programs of TensorFlow 0.x reach for them in FLAGS.__dict__.
        self.__dict__["__flags"] = {}
        self.__dict__["__parsed"] = False
        self.__dict__["__validators"] = []
        self.__dict__["__hinted"] = set()

    def _flags(self):
        return self.__dict__["__flags"]

    def __getattr__(self, name):
        # Reached only for what is no ordinary attribute.
        flags = self.__dict__["__flags"]
        if name not in flags and name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self._parse_on_access()
        if name not in flags:
            others = _flags_of_absl()
            if others is None or name not in others:
                raise UnrecognizedFlagError(f"no flag --{name} is defined")
            if not others.is_parsed():
                others(list(sys.argv), known_only=True)
            return getattr(others, name)
        return flags[name].value

    def __setattr__(self, name, value):
        flags = self.__dict__["__flags"]
        if name in flags:
            flags[name].value = value
        elif name.startswith("_"):
            self.__dict__[name] = value
        elif name in (_flags_of_absl() or ()):
            setattr(_flags_of_absl(), name, value)
        else:
            flags[name] = Flag(name, value, "", _as_given, "value")

    def __delattr__(self, name):
        if self.__dict__["__flags"].pop(name, None) is None:
            raise UnrecognizedFlagError(f"no flag --{name} is defined")

    def __getitem__(self, name):
        return self.__dict__["__flags"][name]

    def __setitem__(self, name, flag):
        self._define(flag)

    def __contains__(self, name):
        return name in self.__dict__["__flags"] or name in (_flags_of_absl() or ())

    def __iter__(self):
        return iter(self.__dict__["__flags"])

    def __len__(self):
        return len(self.__dict__["__flags"])

    def __dir__(self):
        return sorted(set(self.__dict__["__flags"]) | set(object.__dir__(self)))

    def __str__(self):
        return self.get_help()

    def __call__(self, argv, known_only=False):
        """Parses argv, whose first entry is the program; returns the program and what is no flag."""
        return list(argv[:1]) + self._parse(list(argv[1:]))

    def _parse_flags(self, args=None):
        """Parses `args` (default: sys.argv[1:]) and returns what is no known flag."""
        return self._parse(list(sys.argv[1:] if args is None else args))

    def is_parsed(self):
        return self.__dict__["__parsed"]

    def mark_as_parsed(self):
        self.__dict__["__parsed"] = True

    def unparse_flags(self):
        for flag in self.__dict__["__flags"].values():
            flag.unparse()
        self.__dict__["__parsed"] = False

    def flag_values_dict(self):
        """A new dict from each name to its value."""
        self._parse_on_access()
        return {name: flag.value for name, flag in self.__dict__["__flags"].items()}

    def get_flag_value(self, name, default):
        return self.flag_values_dict().get(name, default)

    def set_default(self, name, value):
        """Changes a default, and the value too unless the command line gave one."""
        flag = self.__dict__["__flags"][name]
        flag.default = value
        if not flag.present:
            flag.value = value

    def flags_into_string(self):
        """All values as a command line, one flag a line."""
        return "".join(f"--{name}={value}\n" for name, value in self.flag_values_dict().items() if value is not None)

    def get_help(self):
        """What --help prints."""
        lines = []
        for name, flag in sorted(self.__dict__["__flags"].items()):
            lines.append(f"  --{'[no]' if flag.boolean else ''}{name}: {flag.help}")
            if flag.default is not None:
                lines.append(f"    (default: {flag.default!r})")
            lines.append(f"    ({flag.kind})")
        return "\n".join(lines)

    main_module_help = module_help = get_help

    def _define(self, flag):
        known = self.__dict__["__flags"].get(flag.name)
        if known is not None:
            # The same line run twice, as in a notebook or a reloaded module, is no conflict.
            if (known.kind, known.default) != (flag.kind, flag.default):
                raise DuplicateFlagError(
                    f"flag --{flag.name} is defined twice: {known.kind} {known.default!r}, {flag.kind} {flag.default!r}"
                )
            return
        self.__dict__["__flags"][flag.name] = flag
        # Flags that a module defines after the first access are parsed by the next one.
        self.__dict__["__parsed"] = False

    def _find(self, word):
        """(flag, value or None) if the word is a flag, else None. The value "false" stands for --noname."""
        if not word.startswith("-") or word in ("-", "--"):
            return None
        name, has_value, value = word.lstrip("-").partition("=")
        flags = self.__dict__["__flags"]
        for candidate in (name, name.replace("-", "_")):
            flag = flags.get(candidate)
            if flag is None:
                flag = next((f for f in flags.values() if f.short_name == candidate), None)
            if flag is not None:
                return flag, value if has_value else None
            inverse = flags.get(candidate[2:]) if candidate.startswith("no") else None
            if inverse is not None and inverse.boolean and not has_value:
                return inverse, "false"
        return None

    def _parse_on_access(self):
        if not self.__dict__["__parsed"]:
            # Flags of a module that was imported later come in; what the program has assigned meanwhile stays.
            fresh = {name for name, flag in self.__dict__["__flags"].items() if not flag.parsed}
            self._parse(list(sys.argv[1:]), fresh)

    def _parse(self, args, wanted=None):
        """Sets the flags that `args` gives (of these only the `wanted`), checks, and returns what is no flag."""
        flags = self.__dict__["__flags"]
        if not flags:
            return args
        self.__dict__["__parsed"] = True
        wanted = set(flags) if wanted is None else wanted
        for name in wanted:
            flags[name].present = 0
            flags[name].parsed = True
        try:
            rest = self._take(args, wanted)
            self._check()
        except Error as error:
            sys.stderr.write(f"{sys.argv[0]}: {error}\nPass --help to see the flags.\n")
            sys.exit(1)
        return rest

    def _take(self, args, wanted):
        rest = []
        i = 0
        while i < len(args):
            word = args[i]
            i += 1
            if word == "--":
                return rest + args[i:]
            found = self._find(word)
            if found is None:
                if word in ("--help", "-help", "-h", "--helpshort", "--helpfull"):
                    print(f"usage: {sys.argv[0]} [flags]\n\nflags:\n{self.get_help()}")
                    sys.exit(0)
                self._hint(word)
                rest.append(word)
                continue
            flag, value = found
            if value is None and flag.boolean:
                # "--flag False" was TensorFlow 0.x's way; any other word after the flag is an argument.
                value = "true"
                if i < len(args) and args[i].lower() in _TRUE[:2] + _FALSE[:2]:
                    value = args[i]
                    i += 1
            elif value is None:
                if i == len(args):
                    raise IllegalFlagValueError(f"flag --{flag.name} needs a value")
                value = args[i]
                i += 1
            if flag.name in wanted:
                flag.parse(value)
        return rest

    def _hint(self, word):
        """Unknown flags may be somebody else's, so a likely slip of the pen is reported and nothing more."""
        if not word.startswith("--") or word in self.__dict__["__hinted"]:
            return
        self.__dict__["__hinted"].add(word)
        import difflib

        close = difflib.get_close_matches(word[2:].partition("=")[0], list(self.__dict__["__flags"]), 1, 0.8)
        if close:
            sys.stderr.write(f"{sys.argv[0]}: there is no flag {word.partition('=')[0]}; did you mean --{close[0]}?\n")

    def _check(self):
        for flag in self.__dict__["__flags"].values():
            if flag.required and flag.value is None:
                raise IllegalFlagValueError(f"flag --{flag.name} must be given")
        for names, check, message in self.__dict__["__validators"]:
            values = {name: self.__dict__["__flags"][name].value for name in names}
            if not check(values):
                raise ValidationError(f"{', '.join('--' + name for name in names)}: {message}")


_FlagValues = FlagValues  # its name until 1.4, by which tests begin anew
FLAGS = FlagValues()


def _as_given(text):
    return text


def _boolean(text):
    word = text.lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError("expected true or false")


def _integer(text):
    word = text.strip().lower().lstrip("+-")
    return int(text, 16 if word.startswith("0x") else 8 if word.startswith("0o") else 10)


def _bounded(convert, lower, upper):
    def parse(text):
        value = convert(text)
        if (lower is not None and value < lower) or (upper is not None and value > upper):
            raise ValueError(f"must be in [{lower}, {upper}]")
        return value

    return parse


def _one_of(values, case_sensitive=True):
    def parse(text):
        for value in values:
            if text == value or (not case_sensitive and text.lower() == value.lower()):
                return value
        raise ValueError(f"must be one of {', '.join(values)}")

    return parse


def _comma_list(text):
    import csv

    return [word.strip() for word in next(csv.reader([text]))] if text else []


def _signature(args, names):
    """TensorFlow has called these arguments by two sets of names; returns (name, default, help)."""
    name, default, help = args
    return (
        names.pop("flag_name", name),
        names.pop("default_value", default),
        names.pop("docstring", names.pop("help_string", help)),
    )


def _define(args, options, parse, kind, **more):
    name, default, help = _signature(args, options)
    if name is None:
        raise TypeError("a flag needs a name")
    if isinstance(default, str) and parse is not _as_given:
        try:
            default = parse(default)
        except ValueError as error:
            raise IllegalFlagValueError(f"default of flag --{name}: {error}") from None
    flag = Flag(name, default, help, parse, kind, short_name=options.get("short_name"), **more)
    flag.required = bool(options.get("required"))
    (options.get("flag_values") or FLAGS)._define(flag)


def DEFINE_string(name=None, default=None, help=None, **options):
    _define((name, default, help), options, _as_given, "a string")


def DEFINE_integer(name=None, default=None, help=None, lower_bound=None, upper_bound=None, **options):
    _define((name, default, help), options, _bounded(_integer, lower_bound, upper_bound), "an integer")


def DEFINE_float(name=None, default=None, help=None, lower_bound=None, upper_bound=None, **options):
    name, default, help = _signature((name, default, help), options)
    if isinstance(default, int):
        default = float(default)
    _define((name, default, help), options, _bounded(float, lower_bound, upper_bound), "a number")


def DEFINE_boolean(name=None, default=None, help=None, **options):
    _define((name, default, help), options, _boolean, "a boolean", boolean=True)


DEFINE_bool = DEFINE_boolean


def DEFINE_enum(name, default, enum_values, help=None, case_sensitive=True, **options):
    kind = "one of " + ", ".join(enum_values)
    _define((name, default, help), options, _one_of(list(enum_values), case_sensitive), kind)


def DEFINE_list(name=None, default=None, help=None, **options):
    _define((name, default, help), options, _comma_list, "a comma separated list")


def DEFINE_spaceseplist(name=None, default=None, help=None, comma_compat=False, **options):
    def parse(text):
        return (text.replace(",", " ") if comma_compat else text).split()

    _define((name, default, help), options, parse, "a whitespace separated list")


def _define_multi(args, options, parse, kind):
    name, default, help = _signature(args, options)
    if default is not None and not isinstance(default, (list, tuple)):
        default = [default]
    default = None if default is None else [parse(v) if isinstance(v, str) else v for v in default]
    _define((name, default, help), options, lambda text: [parse(text)], kind + ", repeatable", multiple=True)


def DEFINE_multi_string(name=None, default=None, help=None, **options):
    _define_multi((name, default, help), options, _as_given, "a string")


def DEFINE_multi_integer(name=None, default=None, help=None, lower_bound=None, upper_bound=None, **options):
    _define_multi((name, default, help), options, _bounded(_integer, lower_bound, upper_bound), "an integer")


def DEFINE_multi_float(name=None, default=None, help=None, lower_bound=None, upper_bound=None, **options):
    _define_multi((name, default, help), options, _bounded(float, lower_bound, upper_bound), "a number")


def DEFINE_multi_enum(name, default, enum_values, help=None, case_sensitive=True, **options):
    kind = "one of " + ", ".join(enum_values)
    _define_multi((name, default, help), options, _one_of(list(enum_values), case_sensitive), kind)


def set_default(flag_holder, value):
    FLAGS.set_default(getattr(flag_holder, "name", flag_holder), value)


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    """The command line must give the flag, unless it has a default."""
    flag_values[flag_name].required = True


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def register_validator(flag_name, checker, message="Flag validation failed", flag_values=FLAGS):
    """`checker(value)` must be true after parsing."""
    register_multi_flags_validator([flag_name], lambda values: checker(values[flag_name]), message, flag_values)


def register_multi_flags_validator(flag_names, checker, message="Flags validation failed", flag_values=FLAGS):
    """`checker({name: value})` must be true after parsing."""
    flag_values.__dict__["__validators"].append((list(flag_names), checker, message))


def validator(flag_name, message="Flag validation failed", flag_values=FLAGS):
    """`register_validator` as a decorator."""

    def register(checker):
        register_validator(flag_name, checker, message, flag_values)
        return checker

    return register


def declare_key_flag(flag_name, flag_values=FLAGS):
    """Which module a flag belongs to has no meaning here."""


def adopt_module_key_flags(module, flag_values=FLAGS):
    """Which module a flag belongs to has no meaning here."""
