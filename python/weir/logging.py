"""tf.logging: lines such as `INFO:tensorflow:step 100` on the standard error stream.

The standard module logging is not imported for this. Once the program has imported it, messages go through its logger
"tensorflow", so that handlers, levels and filters set there have their effect.
"""

import sys

DEBUG = 10
INFO = 20
WARN = 30
WARNING = 30
ERROR = 40
FATAL = 50

_NAMES = {DEBUG: "DEBUG", INFO: "INFO", WARN: "WARNING", ERROR: "ERROR", FATAL: "CRITICAL"}

_verbosity = WARN
_logger = None  # the standard logger, once the program uses that module
_counts = {}  # (which function, file, line) -> calls so far


def _standard_logger(create=False):
    global _logger
    if _logger is None and (create or "logging" in sys.modules):
        import logging

        _logger = logging.getLogger("tensorflow")
        if _logger.level == logging.NOTSET:  # else the program has chosen one already
            _logger.setLevel(_verbosity)
        if not _logger.handlers and not logging.getLogger().handlers:
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
            _logger.addHandler(handler)
    return _logger


def get_logger():
    """The logger "tensorflow" of the standard module logging."""
    return _standard_logger(create=True)


def get_verbosity():
    logger = _standard_logger()
    return _verbosity if logger is None else logger.getEffectiveLevel()


def set_verbosity(v):
    """Messages below level `v` are dropped; a number, or the name of a level."""
    global _verbosity
    if isinstance(v, str):
        v = {"WARN": WARN, "FATAL": FATAL, **{name: level for level, name in _NAMES.items()}}[v.upper()]
    _verbosity = v
    logger = _standard_logger()
    if logger is not None:
        logger.setLevel(v)


def log(level, msg, *args, **kwargs):
    """Writes `msg % args` if `level` is high enough. Keyword arguments are those of the standard logger."""
    logger = _standard_logger(create=bool(kwargs))
    if logger is not None:
        logger.log(level, msg, *args, **kwargs)
    elif level >= _verbosity and sys.stderr is not None:
        text = str(msg)
        if args:
            # One dict serves names in the text, as in the standard module.
            text %= args[0] if len(args) == 1 and isinstance(args[0], dict) and args[0] else args
        sys.stderr.write(f"{_NAMES.get(level, f'Level {level}')}:tensorflow:{text}\n")


def debug(msg, *args, **kwargs):
    log(DEBUG, msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    log(INFO, msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    log(WARN, msg, *args, **kwargs)


warn = warning


def error(msg, *args, **kwargs):
    log(ERROR, msg, *args, **kwargs)


def fatal(msg, *args, **kwargs):
    """Logs at level FATAL; does not end the program."""
    log(FATAL, msg, *args, **kwargs)


def vlog(level, msg, *args, **kwargs):
    log(level, msg, *args, **kwargs)


def _count_at_caller(function):
    """How often `function` was called before from the line that calls it now."""
    frame = sys._getframe(2)
    key = (function, frame.f_code.co_filename, frame.f_lineno)
    count = _counts.get(key, 0)
    _counts[key] = count + 1
    return count


def log_every_n(level, msg, n, *args):
    """Logs the first, the n+1st, the 2n+1st ... call from the same line."""
    if _count_at_caller("every") % n == 0:
        log(level, msg, *args)


def log_first_n(level, msg, n, *args):
    """Logs the first `n` calls from the same line."""
    if _count_at_caller("first") < n:
        log(level, msg, *args)


def log_if(level, msg, condition, *args):
    if condition:
        log(level, msg, *args)


def TaskLevelStatusMessage(msg):
    error(msg)


def flush():
    if sys.stderr is not None:
        sys.stderr.flush()
