"""One way to run many jobs: on processes of this machine, or on a cluster of Ray.

    for answer in each(fly, jobs, Crew(workers=2)): ...            as they come
    for answer in in_order(fly, jobs, Crew(ray="local")): ...      in the order of the jobs

Closing the iterator stops the work. What ``work`` is bound to (``functools.partial(fly, meshes)``) is shared: it goes
to every worker once, however many jobs there are. Jobs must not depend on who does them and when: results are then the
same for every engine and every number of workers.
"""

from wayword.compute.crew import Crew, Workers, each, in_order

__all__ = ["Crew", "Workers", "each", "in_order"]
