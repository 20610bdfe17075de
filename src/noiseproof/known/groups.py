"""Classes in groups: which is the next of its group."""


def next_in_group(groups: tuple[str, ...]) -> dict[int, int]:
    """Return the map of each class to the next one of its group, in a circle.

    ``groups[i]`` is the group of class i; a class that is alone in its group maps to nothing.

    >>> next_in_group(("a", "b", "a", "a", "c", "b"))
    {0: 2, 2: 3, 3: 0, 1: 5, 5: 1}
    """
    members: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    return {
        i: j
        for ring in members.values()
        if len(ring) > 1
        for i, j in zip(ring, [*ring[1:], ring[0]], strict=True)
    }
