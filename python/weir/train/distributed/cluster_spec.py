"""tf.train.ClusterSpec: the addresses of a cluster's tasks, by job."""

from weir import protos


class ClusterSpec:
    """Made of a dictionary {job: [address, ...]} or {job: {task: address}}, a ClusterDef, or another ClusterSpec."""

    def __init__(self, cluster):
        if isinstance(cluster, ClusterSpec):
            jobs = cluster._jobs
        elif isinstance(cluster, dict):
            jobs = {job: _tasks(job, tasks) for job, tasks in cluster.items()}
        elif hasattr(cluster, "job"):
            jobs = {job.name: dict(job.tasks) for job in cluster.job}
        else:
            raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network addresses, "
                            "or a `ClusterDef` protocol buffer")
        self._jobs = {job: dict(sorted(jobs[job].items())) for job in sorted(jobs)}

    jobs = property(lambda self: list(self._jobs))

    def num_tasks(self, job_name):
        return len(self._job(job_name))

    def task_indices(self, job_name):
        return list(self._job(job_name))

    def task_address(self, job_name, task_index):
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name):
        """The addresses of a job by task, with None for tasks that there are none of."""
        tasks = self._job(job_name)
        return [tasks.get(task) for task in range(max(tasks, default=-1) + 1)]

    def as_dict(self):
        """{job: [address, ...]}; {job: {task: address}} where tasks are missing."""
        return {job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else dict(tasks)
                for job, tasks in self._jobs.items()}

    def as_cluster_def(self):
        cluster = protos.ClusterDef()
        for name, tasks in self._jobs.items():
            job = cluster.job.add()
            job.name = name
            for task, address in tasks.items():
                job.tasks[task] = address
        return cluster

    def _job(self, name):
        if name not in self._jobs:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._jobs[name]

    def __bool__(self):
        return bool(self._jobs)

    def __eq__(self, other):
        if isinstance(other, dict):
            return self.as_dict() == other
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None

    def __repr__(self):
        return f"ClusterSpec({self.as_dict()!r})"


def _tasks(job, tasks):
    tasks = dict(enumerate(tasks)) if isinstance(tasks, (list, tuple)) else tasks
    if not isinstance(tasks, dict):
        raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")
    for task, address in tasks.items():
        if not isinstance(task, int):
            raise TypeError(f"Task index {task!r} of job {job!r} is not an integer.")
        if not isinstance(address, str):
            raise TypeError(f"Task address {address!r} of job {job!r} is not a string.")
    return tasks
