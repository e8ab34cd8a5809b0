import gzip
import os

import pytest

from weir import errors, file_io, gfile


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name, text):
    with gfile.GFile(name, "w") as file:
        file.write(text)


def test_files_open_at_the_first_use():
    file = gfile.GFile("missing")
    with pytest.raises(errors.NotFoundError, match="missing; No such file or directory"):
        file.read()
    gfile.GFile("never", "w").close()
    assert not gfile.Exists("never")


def test_text_and_bytes():
    with gfile.GFile("a", "w") as file:
        file.write("line1\nline2\n")
        file.write("xé".encode())
        assert file.tell() == 15 and file.size() == 15
        with pytest.raises(TypeError):
            file.write(3)
        with pytest.raises(errors.PermissionDeniedError):
            file.read()
    with gfile.FastGFile("a") as file:
        assert file.readline() == "line1\n" and file.tell() == 6
        assert file.read(3) == "lin" and file.read() == "e2\nxé" and file.read() == ""
        file.seek(2)
        assert file.read(2) == "ne"
        with pytest.raises(errors.PermissionDeniedError):
            file.write("x")
    assert gfile.Open("a", "rb").read() == b"line1\nline2\nx\xc3\xa9"
    assert list(gfile.GFile("a")) == gfile.GFile("a").readlines() == ["line1\n", "line2\n", "xé"]


def test_seeking():
    write("a", "0123456789")
    file = gfile.GFile("a", "rb")
    file.seek(-3, 2)
    assert file.read() == b"789"
    file.seek(position=1)
    file.seek(2, 1)
    assert file.read(1) == b"3"
    with pytest.raises(errors.InvalidArgumentError):
        file.seek(-1)
    with pytest.raises(errors.OutOfRangeError):
        file.seek(100)


def test_appending_and_bad_modes():
    for text in "12":
        with gfile.GFile("a", "a") as file:
            file.write(text)
    assert gfile.GFile("a").read() == "12"
    with pytest.raises(errors.InvalidArgumentError, match="mode is not"):
        gfile.GFile("a", "q")


def test_gzip_reads_through_it():
    with gzip.open("a.gz", "wb") as file:
        file.write(b"payload")
    with gfile.Open("a.gz", "rb") as file:
        assert gzip.GzipFile(fileobj=file).read() == b"payload"


def test_folders():
    gfile.MkDir("d")
    gfile.MkDir("d")
    gfile.MakeDirs("d/e/f")
    gfile.MakeDirs("d/e/f")
    with pytest.raises(errors.NotFoundError):
        gfile.MkDir("x/y")
    write("d/1.txt", "1")
    write("d/e/2.txt", "2")
    write("d/e/3.txt", "3")
    assert gfile.ListDirectory("d") == ["1.txt", "e"]
    with pytest.raises(errors.NotFoundError):
        gfile.ListDirectory("none")
    assert list(gfile.Walk("d")) == [("d", ["e"], ["1.txt"]), ("d/e", ["f"], ["2.txt", "3.txt"]), ("d/e/f", [], [])]
    assert [top for top, _, _ in gfile.Walk("d", in_order=False)] == ["d/e/f", "d/e", "d"]
    assert list(gfile.Walk("none")) == []
    assert gfile.Glob("d/e/*.txt") == ["d/e/2.txt", "d/e/3.txt"] and gfile.Glob(["d/*", "none"]) == ["d/1.txt", "d/e"]
    with pytest.raises(errors.FailedPreconditionError):
        gfile.Remove("d")
    gfile.DeleteRecursively("d")
    assert not gfile.Exists("d")
    with pytest.raises(errors.NotFoundError):
        gfile.DeleteRecursively("d")


def test_copy_rename_remove():
    write("a", "text")
    gfile.Copy("a", "b")
    for change in (gfile.Copy, gfile.Rename):
        with pytest.raises(errors.AlreadyExistsError):
            change("a", "b")
        with pytest.raises(errors.NotFoundError):
            change("none", "c")
    gfile.Rename("a", "b", overwrite=True)
    assert not gfile.Exists("a") and gfile.Stat("b").length == 4 and not gfile.Stat("b").is_directory
    gfile.Remove("b")
    with pytest.raises(errors.NotFoundError):
        gfile.Remove("b")


def test_paths_of_other_kinds(folder):
    write(folder / "a", "x")
    assert gfile.Exists(b"a") and gfile.Exists(f"file://{folder}/a") and gfile.IsDirectory(folder)
    with pytest.raises(errors.UnimplementedError, match="scheme 'gs' not implemented"):
        gfile.Exists("gs://bucket/file")


def test_file_io_names():
    file_io.write_string_to_file("a", "abc")
    assert file_io.read_file_to_string("a") == "abc" and file_io.read_file_to_string("a", True) == b"abc"
    file_io.atomic_write_string_to_file("b", "abc")
    assert file_io.filecmp("a", "b") and os.listdir() and sorted(os.listdir()) == ["a", "b"]
    assert file_io.file_crc32("a") == "0x352441c2"
    file_io.recursive_create_dir("x/y")
    assert file_io.is_directory("x/y") and file_io.file_exists("a")


@pytest.mark.parametrize("mode, before, after", [("w+", "", "onetwo"), ("a+", "old", "oldonetwo"), ("r+", "oldoldold", "onetwoold")])
def test_a_file_is_read_from_its_start_whatever_is_written(mode, before, after, tmp_path):
    path = str(tmp_path / "file")
    if before:
        (tmp_path / "file").write_text(before)
    file = gfile.GFile(path, mode)
    file.write("one")
    assert file.tell() == 0
    file.write("two")
    file.flush()
    assert file.read(4) == after[:4] and file.tell() == 4
    file.seek(0)
    assert file.read() == after and file.size() == len(after)
    file.close()
    assert (tmp_path / "file").read_text() == after
