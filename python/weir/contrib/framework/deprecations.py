"""The decorators of deprecated functions and arguments, which Weir leaves as they are."""

from weir.inner import deprecation

deprecated = deprecation.deprecated
deprecated_args = deprecation.deprecated_args
deprecated_arg_values = deprecation.deprecated_arg_values
