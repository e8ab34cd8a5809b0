import subprocess
import os
import sys

import pytest

from weir import app, flags


@pytest.fixture
def values(monkeypatch):
    """A fresh set of flags in place of the global one."""
    fresh = flags.FlagValues()
    monkeypatch.setattr(flags, "FLAGS", fresh)
    monkeypatch.setattr(sys, "argv", ["prog"])
    flags.DEFINE_string("data_dir", "/tmp", "where the data is")
    flags.DEFINE_integer("steps", 10, "how long")
    flags.DEFINE_float("rate", 1, "how fast")
    flags.DEFINE_boolean("train", True, "whether")
    flags.DEFINE_list("sizes", ["1"], "several")
    flags.DEFINE_enum("kind", "a", ["a", "b"], "which")
    return fresh


def test_flags_parse_on_first_access(values, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["prog", "--steps=5", "--data_dir", "/data", "-rate", "0.5", "--notrain"])
    assert not values.is_parsed()
    assert (values.steps, values.data_dir, values.rate, values.train) == (5, "/data", 0.5, False)
    assert values.is_parsed()


def test_defaults_hold_without_arguments(values):
    assert values.flag_values_dict() == {
        "data_dir": "/tmp", "steps": 10, "rate": 1.0, "train": True, "sizes": ["1"], "kind": "a",
    }  # fmt: skip
    assert isinstance(values.rate, float)


@pytest.mark.parametrize(
    "args, train, rest",
    [
        (["--train"], True, []),
        (["--train=false"], False, []),
        (["--train", "False"], False, []),
        (["--train", "file"], True, ["file"]),
        (["--notrain", "x"], False, ["x"]),
        (["--train=1"], True, []),
    ],
)
def test_booleans_in_every_spelling(values, args, train, rest):
    assert values._parse_flags(args) == rest
    assert values.train is train


def test_unknown_flags_are_left_alone(values, capsys):
    assert values(["prog", "--other=1", "a", "--steps", "3", "-5", "--", "--steps=9"]) == [
        "prog", "--other=1", "a", "-5", "--steps=9",
    ]  # fmt: skip
    assert values.steps == 3
    assert capsys.readouterr().err == ""


def test_a_slip_of_the_pen_is_reported(values, capsys):
    assert values._parse_flags(["--step=3"]) == ["--step=3"]
    assert "did you mean --steps?" in capsys.readouterr().err


@pytest.mark.parametrize("args", [["--steps=x"], ["--kind=c"], ["--train=maybe"], ["--steps"]])
def test_bad_values_end_the_program(values, args, capsys):
    with pytest.raises(SystemExit) as exit_info:
        values._parse_flags(args)
    assert exit_info.value.code == 1
    assert args[0].split("=")[0] in capsys.readouterr().err


def test_help_prints_every_flag(values, capsys):
    with pytest.raises(SystemExit) as exit_info:
        values._parse_flags(["--help"])
    assert exit_info.value.code == 0
    out = capsys.readouterr().out
    for name in values:
        assert name in out
    assert "where the data is" in out and "[no]train" in out


def test_values_can_be_assigned(values):
    values.steps = 7
    values.fresh = 1
    assert values.steps == 7 and values.fresh == 1
    assert values._parse_flags(["--steps=8"]) == [] and values.steps == 8


def test_flags_of_late_modules_come_in_and_assignments_stay(values, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["prog", "--late=2", "--steps=5"])
    assert values.steps == 5
    values.steps = 6
    flags.DEFINE_integer("late", 1, "defined later")
    assert values.late == 2 and values.steps == 6


def test_old_programs_reach_for_inner_dictionaries(values):
    values._parse_flags(["--steps=3"])
    inner = values.__getattribute__("__flags")
    assert [f"{name}={value}" for name, value in sorted(inner.items())][-2:] == ["steps=3", "train=True"]
    assert inner["steps"].value == 3 and inner["steps"] == 3
    assert values["steps"].default == 10 and "steps" in values
    # ... and copy what they find there into an object of their own, for the value.
    steps = inner["steps"]
    assert steps * 2 == 6 and 2.0 / steps == 2.0 / 3 and 10 - steps == 7 and steps >= 3 and not steps > 3
    flags.DEFINE_string("folder", "a,b", "text")
    folder = inner["folder"]
    assert "x/" + folder == "x/a,b" and folder.split(",") == ["a", "b"] and os.path.join("x", folder) == "x/a,b"
    assert folder[0] == "a" and "," in folder
    with pytest.raises(AttributeError):
        folder.nothing
    del values.steps
    with pytest.raises(AttributeError):
        values.steps


def test_both_sets_of_argument_names_serve(values):
    flags.DEFINE_string(flag_name="old", default_value="x", docstring="0.x")
    flags.DEFINE_string(name="new", default="y", help="1.x")
    assert values.old == "x" and values.new == "y"


def test_redefinition_must_agree(values):
    flags.DEFINE_integer("steps", 10, "again")
    with pytest.raises(flags.DuplicateFlagError):
        flags.DEFINE_integer("steps", 11, "again")


def test_lists_and_repeated_flags(values):
    flags.DEFINE_multi_integer("n", [1], "many")
    values._parse_flags(["--sizes=3,4", "--n=5", "--n", "6"])
    assert values.sizes == ["3", "4"] and values.n == [5, 6]


def test_validators_and_required_flags(values, capsys):
    flags.DEFINE_string("must", None, "needed")
    flags.mark_flag_as_required("must", values)
    with pytest.raises(SystemExit):
        values._parse_flags([])
    assert "--must" in capsys.readouterr().err
    flags.register_validator("steps", lambda n: n > 0, "positive please", values)
    with pytest.raises(SystemExit):
        values._parse_flags(["--must=x", "--steps=-1"])
    assert "positive please" in capsys.readouterr().err


def test_run_passes_the_rest_and_exits_with_the_result(values):
    seen = []
    with pytest.raises(SystemExit) as exit_info:
        app.run(lambda argv: seen.append(argv) or 3, ["prog", "--steps=2", "file"])
    assert exit_info.value.code == 3
    assert seen == [["prog", "file"]] and values.steps == 2


def test_run_finds_main_of_the_program(tmp_path):
    program = tmp_path / "p.py"
    program.write_text("from weir import app\ndef main(_):\n    print('main')\napp.run()\n")
    assert subprocess.run([sys.executable, program], capture_output=True, text=True).stdout == "main\n"


def test_import_needs_no_argparse():
    code = (
        "import sys, weir; before = set(sys.modules)\n"
        "import weir.flags, weir.app; assert 'argparse' not in set(sys.modules) - before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
