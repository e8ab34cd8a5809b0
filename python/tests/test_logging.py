import subprocess
import sys


def run(code):
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stderr


QUIET = "import sys; sys.modules.pop('logging', None)\nfrom weir import logging as log\n"


def test_lines_look_as_tensorflows():
    code = (
        "log.info('no'); log.warn('w %d', 3); log.error('e'); log.fatal('f'); log.debug('no'); log.log(30, '%s', 'x')"
    )
    assert (
        run(QUIET + code) == "WARNING:tensorflow:w 3\nERROR:tensorflow:e\nCRITICAL:tensorflow:f\nWARNING:tensorflow:x\n"
    )


def test_verbosity_decides():
    code = "log.set_verbosity(20); assert log.get_verbosity() == 20; log.info('i'); log.debug('no'); log.vlog(20, 'v')"
    assert run(QUIET + code) == "INFO:tensorflow:i\nINFO:tensorflow:v\n"


def test_counting_by_line():
    code = """
log.set_verbosity(log.INFO)
for i in range(5):
    log.log_every_n(log.INFO, 'every %d', 2, i)
    log.log_first_n(log.INFO, 'first %d', 1, i)
    log.log_if(log.INFO, 'if %d', i == 3, i)
"""
    assert run(QUIET + code).split("\n") == [
        "INFO:tensorflow:every 0", "INFO:tensorflow:first 0", "INFO:tensorflow:every 2", "INFO:tensorflow:if 3",
        "INFO:tensorflow:every 4", "",
    ]  # fmt: skip


def test_the_standard_logger_rules_once_it_is_used():
    code = "import logging; logging.getLogger('tensorflow').setLevel(logging.ERROR); log.warn('no'); log.error('e')"
    assert run(QUIET + code) == "ERROR:tensorflow:e\n"


def test_handlers_of_the_program_get_the_messages():
    code = """
import logging, io
stream = io.StringIO()
log.get_logger().addHandler(logging.StreamHandler(stream))
log.set_verbosity(log.INFO)
log.info('hello %s', 'you')
assert stream.getvalue() == 'hello you\\n', stream.getvalue()
"""
    assert run(QUIET + code) == "INFO:tensorflow:hello you\n"


def test_text_with_percent_signs_needs_no_arguments():
    assert run(QUIET + "log.warn('100%')") == "WARNING:tensorflow:100%\n"
