"""tf.train.Server: a task of a cluster."""

from weir import _weir, protos
from weir.core.config import session_options
from weir.train.distributed.cluster_spec import ClusterSpec


def _make_server_def(server_or_cluster_def, job_name, task_index, protocol, config):
    """The ServerDef that the arguments of a Server describe; what they leave open comes from a ServerDef that is given."""
    if isinstance(server_or_cluster_def, protos.ServerDef):
        server_def = protos.ServerDef()
        server_def.CopyFrom(server_or_cluster_def)
    else:
        server_def = protos.ServerDef()
        server_def.cluster.CopyFrom(ClusterSpec(server_or_cluster_def).as_cluster_def())
        server_def.task_index = -1
    if job_name is not None:
        server_def.job_name = job_name
    elif not server_def.job_name:
        if len(server_def.cluster.job) != 1:
            raise ValueError("Must specify an explicit `job_name`.")
        server_def.job_name = server_def.cluster.job[0].name
    if task_index is not None:
        server_def.task_index = task_index
    elif server_def.task_index < 0:
        tasks = next((job.tasks for job in server_def.cluster.job if job.name == server_def.job_name), {})
        if len(tasks) != 1:
            raise ValueError("Must specify an explicit `task_index`.")
        server_def.task_index = next(iter(tasks))
    if protocol is not None:
        server_def.protocol = protocol
    elif not server_def.protocol:
        server_def.protocol = "grpc"
    if config is not None:
        server_def.default_session_config.MergeFrom(config)
    return server_def


_started = set()  # a server that a program forgets goes on, as TensorFlow's does, until it is stopped or the process ends


class Server:
    """Serves sessions of clients (``tf.Session(server.target)``) and runs parts of graphs for other tasks.

    The messages and services are TensorFlow's. ``listen_to_network``, the limits, ``untrusted_clients`` and the credentials are
    Weir's own: see docs/cluster.md, "Security".
    """

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True, *,
                 listen_to_network=False, max_message_bytes=0, max_graph_nodes=0, max_sessions=0, untrusted_clients=False,
                 credentials=None):
        self._server_def = _make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        cluster = {job.name: dict(job.tasks) for job in self._server_def.cluster.job}
        options = session_options(self._server_def.default_session_config)
        if credentials:
            options["credentials"] = dict(credentials)
        security = {"listen_to_network": listen_to_network, "max_message_bytes": max_message_bytes,
                    "max_graph_nodes": max_graph_nodes, "max_sessions": max_sessions, "untrusted_clients": untrusted_clients}
        self._server = _weir.Server._make(cluster, self._server_def.job_name, self._server_def.task_index,
                                          self._server_def.protocol, options, security, start)
        # Ports that were left open are known now.
        address = self._server._cluster[self._server._job][self._server._task]
        for job in self._server_def.cluster.job:
            if job.name == self._server._job:
                job.tasks[self._server._task] = address
        if start:
            _started.add(self._server)

    def start(self):
        self._server._start()
        _started.add(self._server)

    def join(self):
        """Waits until the server stops: for ever, unless it is interrupted."""
        self._server._join()

    def stop(self):
        """Ends the server: its sessions and steps end with errors. (Weir's own.)"""
        self._server._stop()
        _started.discard(self._server)

    server_def = property(lambda self: self._server_def)
    target = property(lambda self: self._server._target)

    def status(self):
        """For people: sessions, steps, who waits for what. (Weir's own; ``weir cluster status`` asks from elsewhere.)"""
        return self._server._status()

    @staticmethod
    def create_local_server(config=None, start=True):
        """A cluster of this task alone, on a free port."""
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)


def create_local_cluster(num_workers, num_ps, protocol="grpc", worker_config=None, ps_config=None):
    """Servers of one cluster in this process, for tests: (workers, parameter servers)."""
    import socket

    held = []  # ports that were free stay so until all are chosen
    for _ in range(num_workers + num_ps):
        held.append(socket.socket())
        held[-1].bind(("127.0.0.1", 0))
    addresses = ["localhost:%d" % s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    cluster = ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})
    workers = [Server(cluster, "worker", i, protocol, worker_config) for i in range(num_workers)]
    servers = [Server(cluster, "ps", i, protocol, ps_config) for i in range(num_ps)]
    return workers, servers
