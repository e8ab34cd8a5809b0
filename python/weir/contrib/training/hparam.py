"""HParams: hyperparameters with types, as attributes, from text and JSON."""

import json
import numbers
import re

_PARAMETER = re.compile(r"""
  (?P<name>[a-zA-Z][\w\.]*)          # variable name: "var" or "x"
  (\[\s*(?P<index>\d+)\s*\])?        # (optional) index: "1" or None
  \s*=\s*
  ((?P<val>[^,\[]*)                  # single value: "a" or None
   |
   \[(?P<vals>[^\]]*)\])             # list of values: None or "1,2,3"
  ($|,\s*)""", re.VERBOSE)
_BOOLS = {"true": True, "True": True, "1": True, "false": False, "False": False, "0": False}



def _parsed(text, kind, values):
    """A value of a type, of its text."""
    text = text.strip()
    if kind is bool:
        if text not in _BOOLS:
            raise ValueError(f"Could not parse bool {text!r} in {values}")
        return _BOOLS[text]
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"Could not parse hparam value {text!r} as {kind.__name__} in {values}") from None


def parse_values(values, type_map, ignore_unknown=False):
    """``{name: value}`` of "name=value,name=[a,b],name[2]=value"; single elements come as ``{index: value}``."""
    results, position = {}, 0
    while position < len(values):
        match = _PARAMETER.match(values, position)
        if not match:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name = match["name"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        kind, index = type_map[name], match["index"]
        if match["vals"] is not None:
            if index:
                raise ValueError(f"Assignment of a list to a list index: {values}")
            value = [_parsed(part, kind, values) for part in re.split(r",\s*|\s+", match["vals"].strip()) if part]
        else:
            value = _parsed(match["val"], kind, values)
        if index is not None:
            elements = results.setdefault(name, {})
            if not isinstance(elements, dict) or int(index) in elements:
                raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
            elements[int(index)] = value
        elif name in results:
            raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
        else:
            results[name] = value
    return results


def _cast(name, kind, value):
    """A value as the type of a parameter; ValueError where that would lose something."""
    refused = ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    if value is None or kind is None or kind is type(None):
        return value
    if issubclass(kind, str):
        if isinstance(value, str):
            return kind(value)
        raise refused
    if issubclass(kind, bool) != isinstance(value, bool):
        raise refused
    if issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral):
        raise refused
    if issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number):
        raise refused
    return kind(value)


class HParams:
    """Hyperparameters: each is an attribute with the type, and listness, of its first value."""

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        self._hparam_types, self._model_structure = {}, model_structure
        if hparam_def is not None:
            self._init_from_proto(hparam_def)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def _init_from_proto(self, hparam_def):
        for name, value in hparam_def.hparam.items():
            kind = value.WhichOneof("kind")
            given = getattr(value, kind)
            values = list(given.value) if kind.endswith("_list") else given
            if kind.startswith("bytes"):
                values = [v.decode() for v in values] if isinstance(values, list) else values.decode()
            self.add_hparam(name, values)

    def add_hparam(self, name, value):
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name, value):
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, kind, item) for item in value])
        else:
            if is_list:
                raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name):
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values):
        """Sets parameters from "name=value,..."."""
        parsed = parse_values(values, {name: kind for name, (kind, _) in self._hparam_types.items()})
        changed = {}
        for name, value in parsed.items():
            if isinstance(value, dict):
                items = list(getattr(self, name))
                for index, item in value.items():
                    items[index] = item
                value = items
            changed[name] = value
        return self.override_from_dict(changed)

    def override_from_dict(self, values_dict):
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map):
        return self.override_from_dict(values_map)

    def parse_json(self, values_json):
        return self.override_from_dict(json.loads(values_json))

    def set_model_structure(self, model_structure):
        self._model_structure = model_structure

    def get_model_structure(self):
        return self._model_structure

    def to_json(self, indent=None, separators=None, sort_keys=False):
        def plain(value):
            if callable(value):
                return None
            return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value

        return json.dumps({name: plain(value) for name, value in self.values().items()}, indent=indent,
                          separators=separators, sort_keys=sort_keys)

    def values(self):
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key, default=None):
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            what = f"HParam '{key}' is of type '{kind}', while default"
            if isinstance(default, list) != is_list:
                raise ValueError(f"{what} is {default!r}")
            try:
                for item in default if isinstance(default, list) else [default]:
                    _cast(key, kind, item)
            except ValueError as error:
                raise ValueError(f"Mismatch in the types of {key}: {error}") from None
        return getattr(self, key)

    def __contains__(self, key):
        return key in self._hparam_types

    def __str__(self):
        return str(sorted(self.values().items()))

    def __repr__(self):
        return f"{type(self).__name__}({self})"
