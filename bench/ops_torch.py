"""PyTorch's side of bench/ops.py: answers rows of bench/ops.tsv with the best time of a short round, in seconds.

Images are channels_last, PyTorch's faster layout here and the one of the other systems.
"""

import ops_peer
import torch
import torch.nn.functional as F

torch.set_num_threads(ops_peer.THREADS)
torch.set_grad_enabled(False)
aten = torch.ops.aten


def uniform(*shape):
    return torch.from_numpy(ops_peer.uniform(*shape))


def indices(count, bound):
    return torch.from_numpy(ops_peer.indices(count, bound)).long()


def image(batch, size, channels):
    return uniform(batch, channels, size, size).contiguous(memory_format=torch.channels_last)


def matmul(s):
    a = uniform(s["k"], s["m"]).t() if s.get("ta") else uniform(s["m"], s["k"])
    b = uniform(s["n"], s["k"]).t() if s.get("tb") else uniform(s["k"], s["n"])
    return lambda: torch.mm(a, b)


def _conv(s):
    f = uniform(s["out"], s["in"], s["filter"], s["filter"]).contiguous(memory_format=torch.channels_last)
    stride, pad = s.get("stride", 1), (s["filter"] - 1) // 2
    return image(s["batch"], s["size"], s["in"]), f, image(s["batch"], -(-s["size"] // stride), s["out"]), stride, pad


def conv2d(s):
    x, f, _, stride, pad = _conv(s)
    return lambda: F.conv2d(x, f, stride=stride, padding=pad)


def _conv_backward(s, mask):
    x, f, dy, stride, pad = _conv(s)
    return lambda: aten.convolution_backward(dy, x, f, None, [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], 1, mask)


def conv2d_input(s):
    return _conv_backward(s, [True, False, False])


def conv2d_filter(s):
    return _conv_backward(s, [False, True, False])


def max_pool(s):
    x, pad = image(s["batch"], s["size"], s["channels"]), s["window"] // 2 if s["window"] % 2 else 0
    return lambda: F.max_pool2d(x, s["window"], 2, pad)


def max_pool_grad(s):
    x, pad = image(s["batch"], s["size"], s["channels"]), s["window"] // 2 if s["window"] % 2 else 0
    window = [s["window"]] * 2, [2, 2], [pad, pad], [1, 1], False
    y, at = aten.max_pool2d_with_indices(x, *window)
    dy = torch.rand_like(y)
    return lambda: aten.max_pool2d_with_indices_backward(dy, x, *window, at)


def volume_pool(s):
    x = uniform(s["batch"], s["channels"], s["size"], s["size"], s["size"])
    x = x.contiguous(memory_format=torch.channels_last_3d)
    return lambda: F.max_pool3d(x, 2, 2)


def mirror_pad(s):
    x = image(s["batch"], s["size"], s["channels"])
    return lambda: F.pad(x, [s["by"]] * 4, mode="reflect")


def _groups(s):
    return uniform(s["batch"], s["size"], s["size"], s["groups"], s["channels"] // s["groups"])


def group_mean(s):
    x = _groups(s)
    return lambda: torch.mean(x, [1, 2, 4], keepdim=True)


def group_difference(s):
    x, means = _groups(s), uniform(s["batch"], 1, 1, s["groups"], 1)
    return lambda: torch.square(x - means)


def votes(s):
    x, w = uniform(s["batch"], s["in"], 1, s["width"]), uniform(s["in"], s["out"], s["width"])
    weights = uniform(s["batch"], s["in"], s["out"], 1)
    return lambda: torch.sum(x * w * weights, 1)


def _depthwise(s):
    f = uniform(s["channels"], 1, s["filter"], s["filter"]).contiguous(memory_format=torch.channels_last)
    x = image(s["batch"], s["size"], s["channels"])
    options = dict(stride=s["stride"], padding=s["filter"] // 2, groups=s["channels"])
    return x, f, options, torch.rand_like(F.conv2d(x, f, **options))


def depthwise(s):
    x, f, options, _ = _depthwise(s)
    return lambda: F.conv2d(x, f, **options)


def _depthwise_backward(s, mask):
    x, f, options, dy = _depthwise(s)
    stride, pad = [options["stride"]] * 2, [options["padding"]] * 2
    return lambda: aten.convolution_backward(dy, x, f, None, stride, pad, [1, 1], False, [0, 0], s["channels"], mask)


def depthwise_input(s):
    return _depthwise_backward(s, [True, False, False])


def depthwise_filter(s):
    return _depthwise_backward(s, [False, True, False])


def _batch_norm(s):
    x, scale, offset = image(s["batch"], s["size"], s["channels"]), uniform(s["channels"]), uniform(s["channels"])
    if s.get("planes"):
        x = x.contiguous()
    return x, scale, offset, lambda: F.relu(F.batch_norm(x, None, None, scale, offset, True, 0.1, 0.001))


def batch_norm(s):
    return _batch_norm(s)[3]


def batch_norm_grad(s):
    x, scale, offset, forward = _batch_norm(s)
    inputs, dy = [t.requires_grad_() for t in (x, scale, offset)], torch.rand_like(x)

    @torch.enable_grad()
    def run():
        return torch.autograd.grad(forward(), inputs, dy)

    return run


def leaky_grad(s):
    x, dy = uniform(s["elements"]), uniform(s["elements"])
    return lambda: aten.leaky_relu_backward(dy, x, 0.2, False)


def select(s):
    a, b, condition = uniform(s["elements"]), uniform(s["elements"]), indices(s["elements"], 2) != 0
    return lambda: torch.where(condition, a, b)


def lrn(s):
    x = image(s["batch"], s["size"], s["channels"])
    return lambda: F.local_response_norm(x, 9, alpha=0.001, beta=0.75, k=1.0)


def lrn_grad(s):
    x = image(s["batch"], s["size"], s["channels"]).requires_grad_()
    with torch.enable_grad():
        y = F.local_response_norm(x, 9, alpha=0.001, beta=0.75, k=1.0)
    dy = torch.rand_like(y)
    return lambda: torch.autograd.grad(y, x, dy, retain_graph=True)


def cross_entropy(s):
    logits, labels = uniform(s["batch"], s["classes"]).requires_grad_(), indices(s["batch"], s["classes"])

    @torch.enable_grad()
    def run():
        return torch.autograd.grad(F.cross_entropy(logits, labels), logits)

    return run


def bias_grad(s):
    dy = uniform(s["rows"], s["columns"])
    return lambda: dy.sum(0)


def dropout(s):
    x = uniform(s["elements"])
    return lambda: F.dropout(x, 0.5)


def adam(s):
    n = s["elements"]
    lists = [uniform(n)], [uniform(n)], [torch.zeros(n)], [torch.zeros(n)], [], [torch.tensor(1.0)]
    rates = dict(lr=1e-3, beta1=0.9, beta2=0.999, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)
    return lambda: torch._fused_adam_(*lists, **rates)


def _sgd(s, momentum):
    lists = [uniform(s["elements"])], [uniform(s["elements"])], [uniform(s["elements"])] if momentum else []
    rates = dict(weight_decay=0.0, momentum=momentum, lr=1e-3, dampening=0.0, nesterov=False, maximize=False,
                 is_first_step=False)
    return lambda: torch._fused_sgd_(*lists, **rates)


def momentum(s):
    return _sgd(s, 0.9)


def gradient_descent(s):
    return _sgd(s, 0.0)


def concat(s):
    a, b = uniform(s["rows"], s["columns"]), uniform(s["rows"], s["columns"])
    return lambda: torch.cat([a, b], 1)


def split(s):
    # PyTorch's own split makes views; a copy is what the next kernel would make of them where they must lie densely.
    x = uniform(s["rows"], s["columns"])
    return lambda: torch.split_with_sizes_copy(x, [s["columns"] // 2] * 2, 1)


def gather(s):
    table, at = uniform(s["rows"], s["columns"]), indices(s["count"], s["rows"])
    return lambda: F.embedding(at, table)


def sparse_update(s):
    table, at, values = uniform(s["rows"], s["columns"]), indices(s["count"], s["rows"]), uniform(s["count"], s["columns"])
    return lambda: table.index_add_(0, at, values, alpha=-1e-3)


def sparse_adagrad(s):
    table = torch.nn.Parameter(uniform(s["rows"], s["columns"]))
    at, values = indices(s["count"], s["rows"]), uniform(s["count"], s["columns"])
    optimizer = torch.optim.Adagrad([table], lr=1e-3, initial_accumulator_value=0.1)

    def call():
        table.grad = torch.sparse_coo_tensor(at.reshape(1, -1), values, table.shape)
        optimizer.step()

    return call


if __name__ == "__main__":
    ops_peer.answer(globals())
