"""slim.model_analyzer: what a model is made of, and how large it is."""


def tensor_description(var):
    """"(float32_ref 3x4)"."""
    sizes = "x".join(str(size) for size in var.get_shape().as_list())
    return f"({var.dtype.name} {sizes})"


def _print_title(title):
    print("---------")
    print(title)
    print("---------")


def analyze_ops(graph, print_info=False):
    """The number of elements of all outputs."""
    if print_info:
        _print_title("Operations: name -> (type shapes) [size]")
    total = 0
    for op in graph.get_operations():
        size, shapes = 0, []
        for output in op.outputs:
            shape = output.get_shape()
            size += shape.num_elements() or 0 if shape.is_fully_defined() else 0
            if shape.ndims:
                shapes.append(tensor_description(output))
        if print_info:
            print(op.name, "\t->", ", ".join(shapes), f"[{size}]")
        total += size
    return total


def analyze_vars(variables, print_info=False):
    """(elements, bytes) of all variables."""
    if print_info:
        _print_title("Variables: name (type shape) [size]")
    total_size = total_bytes = 0
    for var in variables:
        size = var.get_shape().num_elements() or 0
        count = size * var.dtype.size
        total_size, total_bytes = total_size + size, total_bytes + count
        if print_info:
            print(var.name, tensor_description(var), f"[{size}, bytes: {count}]")
    if print_info:
        print(f"Total size of variables: {total_size}")
        print(f"Total bytes of variables: {total_bytes}")
    return total_size, total_bytes
