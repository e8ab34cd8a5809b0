"""Pictures read between their pixels: tf.contrib.resampler, and tf.contrib.image.dense_image_warp."""

from weir.core import dtypes
from weir.core.graph import control_dependencies, convert_to_tensor, name_scope
from weir.core.tensor_shape import TensorShape
from weir.ops import array_ops, check_ops, math_ops


def _pixels(data, rows, columns):
    """The pixels of each example at whole coordinates ``[batch, ...]``."""
    sizes = array_ops.shape(data)
    flat = array_ops.reshape(data, array_ops.stack([sizes[0] * sizes[1] * sizes[2], sizes[3]]))
    batch = array_ops.reshape(math_ops.range(sizes[0]), [-1] + [1] * (rows.shape.ndims - 1))
    return array_ops.gather(flat, (batch * sizes[1] + rows) * sizes[2] + columns)


def _mixed(data, corners, weights):
    """The pixels between the four corners ((top, bottom), (left, right)), by how far it is from top and left."""
    (top, bottom), (left, right) = corners
    down, across = (array_ops.expand_dims(weight, -1) for weight in weights)
    upper = _pixels(data, top, left) * (1 - across) + _pixels(data, top, right) * across
    lower = _pixels(data, bottom, left) * (1 - across) + _pixels(data, bottom, right) * across
    return upper * (1 - down) + lower * down


def resampler(data, warp, name="resampler"):
    """The values of ``data [batch, height, width, channels]`` at the coordinates (x, y) in the last dimension of
    ``warp``, whose first is the batch: linear between pixels, falling to zero within a pixel outside of the border."""
    with name_scope(name, "resampler", [data, warp]):
        data, warp = convert_to_tensor(data, name="data"), convert_to_tensor(warp, name="warp")
        if data.shape.ndims not in (4, None):
            raise ValueError(f"Shape must be rank 4 but is rank {data.shape.ndims}: data is [batch, height, width, "
                             "channels]")
        if warp.shape.ndims is None or warp.shape.ndims < 2:
            raise ValueError(f"warp should be at least a matrix, got shape {warp.shape}")
        if not warp.shape[-1:].is_compatible_with([2]):
            raise ValueError(f"last dimension of warp should be 2: its shape is {warp.shape}")
        padded = array_ops.pad(data, [[0, 0], [1, 1], [1, 1], [0, 0]])
        sizes, corners, weights = array_ops.shape(padded), [], []
        for at, size in ((warp[..., 1] + 1, sizes[1]), (warp[..., 0] + 1, sizes[2])):
            first = math_ops.floor(at)
            near = math_ops.minimum(math_ops.maximum(first, -1), math_ops.cast(size, at.dtype))
            whole = math_ops.cast(near, dtypes.int32)
            corners.append([math_ops.minimum(math_ops.maximum(one, 0), size - 1) for one in (whole, whole + 1)])
            weights.append(math_ops.cast(at - first, data.dtype))
        result = _mixed(padded, corners, weights)
        result.set_shape(warp.shape[:-1].concatenate(data.shape[3:]))
        return result


def interpolate_bilinear(grid, query_points, name="interpolate_bilinear", indexing="ij"):
    """The values of ``grid [batch, height, width, channels]`` at points ``[batch, n, 2]``: linear between pixels, those
    of the border outside. Points are (row, column), or (x, y) with "xy"."""
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with name_scope(name, values=[grid, query_points]):
        grid, points = convert_to_tensor(grid), convert_to_tensor(query_points)
        if grid.shape.ndims != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {grid.shape}")
        if points.shape.ndims not in (3, None):
            raise ValueError("Query points must be 3 dimensional.")
        if points.shape.ndims == 3 and not points.shape[2:].is_compatible_with([2]):
            raise ValueError("Query points must be size 2 in dim 2.")
        sizes = array_ops.shape(grid)
        large_enough = [check_ops.assert_greater_equal(sizes[1], 2, message="Grid height must be at least 2."),
                        check_ops.assert_greater_equal(sizes[2], 2, message="Grid width must be at least 2.")]
        with control_dependencies(large_enough):
            points = array_ops.identity(points)
        coordinates = array_ops.unstack(points, num=2, axis=2)
        corners, weights = [], []
        for at, size in zip(coordinates if indexing == "ij" else reversed(coordinates), (sizes[1], sizes[2])):
            last = math_ops.cast(size - 2, at.dtype)
            first = math_ops.minimum(math_ops.maximum(math_ops.floor(at), math_ops.cast(0, at.dtype)), last)
            whole = math_ops.cast(first, dtypes.int32)
            corners.append([whole, whole + 1])
            weights.append(math_ops.minimum(math_ops.maximum(math_ops.cast(at - first, grid.dtype), 0), 1))
        result = _mixed(grid, corners, weights)
        result.set_shape(TensorShape([None, None]).concatenate(grid.shape[3:]))
        return result


def dense_image_warp(image, flow, name="dense_image_warp"):
    """A picture each of whose pixels comes from its place less its ``flow [batch, height, width, 2]``, (down, right);
    the border goes on outside."""
    with name_scope(name, values=[image, flow]):
        image, flow = convert_to_tensor(image), convert_to_tensor(flow)
        sizes = array_ops.shape(image)
        columns, rows = array_ops.meshgrid(math_ops.range(sizes[2]), math_ops.range(sizes[1]))
        here = math_ops.cast(array_ops.stack([rows, columns], axis=2), flow.dtype)
        points = array_ops.reshape(array_ops.expand_dims(here, 0) - flow,
                                   array_ops.stack([sizes[0], sizes[1] * sizes[2], 2]))
        result = array_ops.reshape(interpolate_bilinear(image, points), sizes)
        result.set_shape(image.shape)
        return result

_interpolate_bilinear = interpolate_bilinear  # its name in TensorFlow 1
