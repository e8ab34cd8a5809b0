"""tensorflow.python.lib.io.file_io: the functions behind tf.gfile under their own names."""

import os

from weir import errors
from weir.gfile import (
    Copy,
    DeleteRecursively,
    Exists,
    GFile,
    Glob,
    IsDirectory,
    ListDirectory,
    MakeDirs,
    MkDir,
    Remove,
    Rename,
    Stat,
    Walk,
)

FileIO = GFile
file_exists = file_exists_v2 = Exists
delete_file = delete_file_v2 = Remove
get_matching_files = get_matching_files_v2 = Glob
create_dir = create_dir_v2 = MkDir
recursive_create_dir = recursive_create_dir_v2 = MakeDirs
copy = copy_v2 = Copy
rename = rename_v2 = Rename
delete_recursively = delete_recursively_v2 = DeleteRecursively
is_directory = is_directory_v2 = IsDirectory
list_directory = list_directory_v2 = ListDirectory
walk = walk_v2 = Walk
stat = stat_v2 = Stat


def read_file_to_string(filename, binary_mode=False):
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename, file_content):
    with GFile(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename, contents, overwrite=True):
    """Writes beside the file and renames, so that nobody ever sees half of it."""
    temporary = f"{os.fsdecode(filename)}.tmp{os.getpid()}"
    write_string_to_file(temporary, contents)
    try:
        Rename(temporary, filename, overwrite)
    except errors.OpError:
        Remove(temporary)
        raise


def filecmp(filename_a, filename_b):
    """Whether two files hold the same bytes."""
    if Stat(filename_a).length != Stat(filename_b).length:
        return False
    with GFile(filename_a, "rb") as a, GFile(filename_b, "rb") as b:
        while True:
            block = a.read(1 << 20)
            if block != b.read(1 << 20):
                return False
            if not block:
                return True


def file_crc32(filename, block_size=1 << 24):
    """The CRC-32 of a file as text, such as '0x1a2b3c'."""
    import zlib

    crc = 0
    with GFile(filename, "rb") as file:
        while block := file.read(block_size):
            crc = zlib.crc32(block, crc)
    return hex(crc & 0xFFFFFFFF)
