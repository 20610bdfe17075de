"""LightGBM's text of a model, checked and written anew.

LightGBM's parser trusts its input: a changed number can end the process. So what it gets to read
was written here, from numbers that are known to make up trees.
"""

from collections.abc import Mapping

import numpy as np

from noiseproof.learn.arrays import expect

#: How a node decides: by a number, with any treatment of missing values. Odd means by categories.
DECISIONS = (0, 2, 4, 6, 8, 10)


def rewritten(text: str, columns: int, classes: int) -> str:
    """Return the model in a text of our own; raise ValueError if its parts do not fit each other.

    Args:
        text: the model as LightGBM or this function wrote it.
        columns: the number of features.
        classes: the number of classes, each of which has a tree in every round.
    """
    _, *sections = text.partition("\nend of trees")[0].split("\nTree=")
    expect("\nend of trees" in text, "a text that is not cut off")
    expect(len(sections) > 0 and len(sections) % classes == 0, "a tree for every class")
    names = " ".join(f"Column_{i}" for i in range(columns))
    head = [
        "tree", "version=v4", f"num_class={classes}", f"num_tree_per_iteration={classes}",
        "label_index=0", f"max_feature_idx={columns - 1}",
        f"objective=multiclass num_class:{classes}",
        f"feature_names={names}", "feature_infos=" + " ".join(["none"] * columns),
    ]  # fmt: skip
    trees = [f"Tree={i}\n{_tree(section, columns)}" for i, section in enumerate(sections)]
    return "\n".join(head) + "\n\n" + "\n\n".join(trees) + "\n\nend of trees\n"


def _tree(section: str, columns: int) -> str:
    """Return one tree; its nodes are checked."""
    pairs = (line.partition("=") for line in section.splitlines() if "=" in line)
    fields = {key: value for key, _, value in pairs}
    leaves = int(fields["num_leaves"])
    expect(int(fields["num_cat"]) == 0 and fields.get("is_linear", "0") == "0", "plain trees")
    expect(leaves > 0, "a leaf in every tree")
    values = _floats(fields, "leaf_value", leaves)
    lines = [f"num_leaves={leaves}", "num_cat=0"]
    if leaves > 1:
        nodes = leaves - 1
        feature = _integers(fields, "split_feature", nodes)
        threshold = _floats(fields, "threshold", nodes)
        decision = _integers(fields, "decision_type", nodes)
        left, right = (_integers(fields, f"{side}_child", nodes) for side in ("left", "right"))
        expect(bool(((feature >= 0) & (feature < columns)).all()), "features that exist")
        expect(bool(np.isin(decision, DECISIONS).all()), "decisions by numbers")
        children = np.concatenate([left, right])
        inner, outer = np.sort(children[children >= 0]), np.sort(-1 - children[children < 0])
        expect(np.array_equal(inner, np.arange(1, nodes)), "a tree")
        expect(np.array_equal(outer, np.arange(leaves)), "leaves that are each reached once")
        # A child comes after its parent, so that no path leads round in a circle.
        below = np.concatenate([np.arange(nodes)] * 2) < children
        expect(bool(below[children >= 0].all()), "nodes that lead downwards")
        lines += [
            f"split_feature={_joined(feature)}", f"threshold={_joined(threshold)}",
            f"decision_type={_joined(decision)}", f"left_child={_joined(left)}",
            f"right_child={_joined(right)}",
        ]  # fmt: skip
    return "\n".join([*lines, f"leaf_value={_joined(values)}", "shrinkage=1"])


def _integers(fields: Mapping[str, str], name: str, count: int) -> np.ndarray:
    found = np.array([int(word) for word in fields[name].split()], dtype=np.int32)
    expect(len(found) == count, f"{count} numbers as {name}")
    return found


def _floats(fields: Mapping[str, str], name: str, count: int) -> np.ndarray:
    found = np.array([float(word) for word in fields[name].split()], dtype=np.float64)
    expect(len(found) == count and bool(np.isfinite(found).all()), f"{count} numbers as {name}")
    return found


def _joined(numbers: np.ndarray) -> str:
    return " ".join(map(repr, numbers.tolist()))
