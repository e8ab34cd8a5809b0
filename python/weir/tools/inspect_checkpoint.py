"""Prints what a checkpoint holds."""

import argparse

from weir.train import checkpoints


def print_tensors_in_checkpoint_file(file_name, tensor_name, all_tensors, all_tensor_names=False, count_exclude_pattern=""):
    """Prints the names of all tensors of a checkpoint, their values, or the value of one."""
    reader = checkpoints.load_checkpoint(file_name)
    shapes = reader.get_variable_to_shape_map()
    if all_tensors or all_tensor_names:
        for key in sorted(shapes):
            print("tensor_name: ", key)
            if all_tensors:
                print(reader.get_tensor(key))
    elif not tensor_name:
        print(reader.debug_string().decode("utf-8"))
    else:
        if not reader.has_tensor(tensor_name):
            print(f"Tensor {tensor_name} not found in checkpoint")
            return
        print("tensor_name: ", tensor_name)
        print(reader.get_tensor(tensor_name))


def _main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file_name", default="")
    parser.add_argument("--tensor_name", default="")
    parser.add_argument("--all_tensors", action="store_true")
    parser.add_argument("--all_tensor_names", action="store_true")
    args = parser.parse_args()
    print_tensors_in_checkpoint_file(args.file_name, args.tensor_name, args.all_tensors, args.all_tensor_names)


if __name__ == "__main__":
    _main()
