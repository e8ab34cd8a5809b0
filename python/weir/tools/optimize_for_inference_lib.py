"""A frozen graph made quicker for predictions: training nodes gone, batch normalisation folded into weights."""

import math

import numpy as np

from weir import graph_util, logging
from weir.core import dtypes, tensor_util
from weir.graph_util import _source
from weir.tools import strip_unused_lib

# Where each input of a batch normalisation is: x, scale, offset, mean, variance.
_BATCH_NORMS = {"BatchNormWithGlobalNormalization": (0, 4, 3, 1, 2), "FusedBatchNorm": (0, 1, 2, 3, 4),
                "FusedBatchNormV2": (0, 1, 2, 3, 4), "FusedBatchNormV3": (0, 1, 2, 3, 4)}
_PRODUCTS = ("Conv2D", "DepthwiseConv2dNative", "MatMul")


def optimize_for_inference(input_graph_def, input_node_names, output_node_names, placeholder_type_enum, toco_compatible=False):
    """The GraphDef between inputs and outputs without what only training needs."""
    ensure_graph_is_valid(input_graph_def)
    graph = strip_unused_lib.strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    graph = graph_util.remove_training_nodes(graph, output_node_names)
    graph = fold_batch_norms(graph)
    ensure_graph_is_valid(graph)
    return graph


def ensure_graph_is_valid(graph_def):
    """Raises ValueError for two nodes of one name and for inputs that are not there."""
    names = set()
    for node in graph_def.node:
        if node.name in names:
            raise ValueError(f"Duplicate node names detected for {node.name}")
        names.add(node.name)
    for node in graph_def.node:
        for name in node.input:
            if _source(name) not in names:
                raise ValueError(f"Input for {node.name} not found: {_source(name)}")


def node_name_from_input(node_name):
    """The name of the node behind an input: without ^ and number."""
    return _source(node_name)


def values_from_const(node_def):
    """The value of a Const node."""
    if node_def.op != "Const":
        raise ValueError(f"Node named '{node_def.name}' should be a Const op for values_from_const.")
    return tensor_util.MakeNdarray(node_def.attr["value"].tensor)


def _epsilon(node):
    return node.attr["variance_epsilon" if node.op == "BatchNormWithGlobalNormalization" else "epsilon"].f


def _scales(node):
    return node.attr["scale_after_normalization"].b if node.op == "BatchNormWithGlobalNormalization" else True


def fold_batch_norms(input_graph_def):
    """The GraphDef with batch normalisations behind convolutions and products folded into their weights."""
    nodes = {node.name: node for node in input_graph_def.node}
    if len(nodes) != len(input_graph_def.node):
        raise ValueError("Duplicate node names detected.")
    uses = {}
    for node in input_graph_def.node:
        for name in node.input:
            uses[_source(name)] = uses.get(_source(name), 0) + 1
    dropped, made = set(), {}
    for node in input_graph_def.node:
        if node.op in _BATCH_NORMS:
            folded = _folded(node, nodes, uses)
            if folded:
                gone, added = folded
                dropped |= gone
                made[node.name] = added
    result = type(input_graph_def)()
    for node in input_graph_def.node:
        if node.name in made:
            result.node.extend(made[node.name])
        elif node.name not in dropped:
            result.node.add().CopyFrom(node)
    graph_util._copy_rest(input_graph_def, result)
    return result


def _folded(norm, nodes, uses):
    """(names of nodes that go, the nodes in place of the normalisation), or None where it must stay."""
    places = _BATCH_NORMS[norm.op]
    product = nodes[_source(norm.input[places[0]])]
    if product.op not in _PRODUCTS:
        logging.warning("Didn't find expected Conv2D or DepthwiseConv2dNative input to '%s'", norm.name)
        return None
    weights = nodes[_source(product.input[1])]
    parameters = [nodes[_source(norm.input[place])] for place in places[1:]]
    if weights.op != "Const" or any(parameter.op != "Const" for parameter in parameters):
        logging.warning("Didn't find expected constants for '%s'", norm.name)
        return None
    if uses.get(product.name, 0) > 1 or uses.get(weights.name, 0) > 1:
        return None  # others need it as it is
    scale, offset, mean, variance = (values_from_const(parameter) for parameter in parameters)
    factor = 1.0 / np.vectorize(math.sqrt)(variance + _epsilon(norm))
    if _scales(norm):
        factor = scale * factor
    value = values_from_const(weights)
    if product.op == "DepthwiseConv2dNative":
        scaled = value * factor.reshape(value.shape[2], value.shape[3])
    else:
        scaled = value * factor
    new_weights, bias, new_product, add = (type(norm)() for _ in range(4))
    dtype = weights.attr["dtype"].type
    for const, name, content in ((new_weights, weights.name, scaled), (bias, product.name + "_bn_offset",
                                                                       offset - mean * factor)):
        const.op, const.name = "Const", name
        const.attr["dtype"].type = dtype
        const.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(content.astype(value.dtype), dtype, content.shape))
    new_product.CopyFrom(product)
    add.op, add.name, add.device = "BiasAdd", norm.name, norm.device
    add.attr["T"].type = product.attr["T"].type
    if "data_format" in product.attr:
        add.attr["data_format"].CopyFrom(product.attr["data_format"])
    add.input.extend([product.name, bias.name])
    gone = {weights.name, product.name, *(parameter.name for parameter in parameters if uses.get(parameter.name) == 1)}
    return gone, [new_weights, new_product, bias, add]


def fuse_resize_and_conv(input_graph_def, output_node_names):
    """The GraphDef whose convolutions enlarge (ResizeBilinear) and pad (MirrorPad) their input themselves, which keeps the
    large picture out of memory. Nodes that nobody reads any more are gone."""
    ensure_graph_is_valid(input_graph_def)
    nodes = {node.name: node for node in input_graph_def.node}
    uses = dict.fromkeys(nodes, 0)
    for name in [_source(name) for node in input_graph_def.node for name in node.input] + list(output_node_names):
        uses[name] += 1
    result = type(input_graph_def)()
    fused = {}
    for conv in input_graph_def.node:
        if conv.op != "Conv2D":
            continue
        before = nodes[_source(conv.input[0])]
        pad = before if before.op == "MirrorPad" else None
        resize = nodes[_source(pad.input[0])] if pad is not None else before
        resize = resize if resize.op == "ResizeBilinear" else None
        if pad is None and resize is None:
            continue
        fused[conv.name] = _fused(conv, pad, resize)
        for gone in (pad, resize):
            if gone is not None:
                uses[gone.name] -= 1
    for node in input_graph_def.node:
        if node.name not in fused and uses[node.name] > 0:
            result.node.add().CopyFrom(node)
    for made in fused.values():
        result.node.extend(made)
    graph_util._copy_rest(input_graph_def, result)
    return result


def _fused(conv, pad, resize):
    """The nodes that stand for a convolution and what came before it."""
    made = []
    node = type(conv)(op="FusedPadConv2D" if resize is None else "FusedResizeAndPadConv2D", name=conv.name)
    if pad is None:
        made.append(type(conv)(op="Const", name=conv.name + "_dummy_paddings"))
        made[0].attr["dtype"].type = dtypes.int32.as_datatype_enum
        made[0].attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(np.zeros((4, 2), np.int32)))
        node.attr["mode"].s = b"REFLECT"
    else:
        node.attr["mode"].CopyFrom(pad.attr["mode"])
    paddings = made[0].name if pad is None else pad.input[1]
    if resize is None:
        node.input.extend([pad.input[0], paddings, conv.input[1]])
    else:
        node.input.extend([resize.input[0], resize.input[1], paddings, conv.input[1]])
        node.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    for name in ("T", "strides", "padding"):
        node.attr[name].CopyFrom(conv.attr[name])
    return [*made, node]
