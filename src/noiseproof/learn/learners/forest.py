"""Trained forests as plain arrays: small files, no pickle, and prediction with numpy alone."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof.learn.arrays import ArrayModel, expect
from noiseproof.learn.learner import Floats

#: Send this many rows down all trees at once.
BLOCK = 512


class Forest(ArrayModel):
    """Predicts the mean of the class shares in the leaves that a row reaches.

    Node n sends a row left if x[feature[n]] <= threshold[n]. A leaf has feature -1, and its
    ``left`` is its index in ``shares``.

    Args:
        roots: (T,) the root node of each tree.
        feature: (M,) the column that a node tests.
        threshold: (M,) the threshold of the test.
        left: (M,) the next node if the test holds.
        right: (M,) the next node if it does not.
        shares: (leaves, K) the class shares of each leaf.
        columns: D.
    """

    learner = "trees"

    def __init__(
        self,
        roots: NDArray[np.int32],
        feature: NDArray[np.int32],
        threshold: NDArray[np.float32],
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        shares: NDArray[np.float16],
        columns: int,
    ) -> None:
        self.roots, self.feature, self.threshold = roots, feature, threshold
        self.left, self.right, self.shares, self.columns = left, right, shares, columns

    @classmethod
    def of_trees(
        cls, trees: Sequence[Any], classes: NDArray[np.int64], K: int, D: int, leaf: float = 0,
        scale: NDArray[np.float64] | None = None,
    ) -> Self:  # fmt: skip
        """Convert scikit-learn's trees, cut back where their leaves are too light.

        A row that would reach a lighter node than ``leaf`` gets the shares of the lowest node above
        it that is heavy enough.

        Args:
            trees: the trees.
            classes: those of the K classes that the trees know.
            K: the number of classes.
            D: the number of features.
            leaf: the least weight of the rows whose shares are predicted.
            scale: (D,) powers of two that the features were multiplied by; None: by nothing.
        """
        roots, parts, nodes, leaves = [], [], 0, 0
        for tree in (estimator.tree_ for estimator in trees):
            kept, inner, told = _cut(tree, leaf)
            new = np.cumsum(kept) - 1
            leaf_here, told = ~inner[kept], told[kept]
            value = np.asarray(tree.value)[told[leaf_here], 0]
            shares = np.zeros((len(value), K), dtype=np.float16)
            shares[:, classes] = value / np.maximum(value.sum(1, keepdims=True), 1e-30)
            next_left, next_right = (
                new[np.maximum(child[kept], 0)] + nodes
                for child in (np.asarray(tree.children_left), np.asarray(tree.children_right))
            )
            left = np.where(leaf_here, leaves + np.cumsum(leaf_here) - 1, next_left)
            right = np.where(leaf_here, 0, next_right)
            feature = np.where(leaf_here, -1, tree.feature[kept])
            threshold = tree.threshold[kept]
            if scale is not None:
                threshold = np.where(leaf_here, threshold, threshold / scale[feature])
            parts.append((feature, _below(threshold), left, right, shares))
            roots.append(nodes)
            nodes, leaves = nodes + len(feature), leaves + len(shares)
        feature, threshold, left, right, shares = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        return cls(
            np.array(roots, dtype=np.int32), feature.astype(np.int32), threshold,
            left.astype(np.int32), right.astype(np.int32), shares, D,
        )  # fmt: skip

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of features and of classes, (D, K)."""
        return self.columns, self.shares.shape[1]

    def probabilities(self, X: Any) -> Floats:
        """Return (N, K), computed in blocks of rows."""
        out = np.empty((X.shape[0], self.shares.shape[1]), dtype=np.float32)
        for start in range(0, len(out), BLOCK):
            part = X[start : start + BLOCK]
            dense = part.toarray() if sparse.issparse(part) else part
            out[start : start + BLOCK] = self._block(np.ascontiguousarray(dense, dtype=np.float32))
        return out

    def _block(self, X: NDArray[np.float32]) -> Floats:
        trees = len(self.roots)
        node = np.tile(self.roots, len(X))
        offset = np.repeat(np.arange(len(X), dtype=np.int64) * X.shape[1], trees)
        flat = X.reshape(-1)
        moving = np.flatnonzero(self.feature[node] >= 0)
        while len(moving):
            at = node[moving]
            goes_left = flat[offset[moving] + self.feature[at]] <= self.threshold[at]
            at = np.where(goes_left, self.left[at], self.right[at])
            node[moving] = at
            moving = moving[self.feature[at] >= 0]
        leaf = self.left[node].reshape(len(X), trees)
        out = np.zeros((len(X), self.shares.shape[1]), dtype=np.float32)
        for tree in range(trees):
            out += self.shares[leaf[:, tree]]
        return np.asarray(out / out.sum(axis=1, keepdims=True))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the nodes and the leaves."""
        return {
            "roots": self.roots, "feature": self.feature, "threshold": self.threshold,
            "left": self.left, "right": self.right, "shares": self.shares,
            "columns": np.array(self.columns),
        }  # fmt: skip

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the forest; every node must lead to a later node or to an existing leaf."""
        roots, feature, threshold, left, right, shares = (
            arrays[n] for n in ("roots", "feature", "threshold", "left", "right", "shares")
        )
        columns, nodes = int(arrays["columns"]), len(feature)
        expect(threshold.shape == left.shape == right.shape == feature.shape == (nodes,), "nodes")
        expect(all(a.dtype.kind == "i" for a in (roots, feature, left, right)), "whole numbers")
        expect(shares.ndim == 2 and roots.ndim == 1 and len(roots) > 0, "trees and leaves")
        expect(bool(((roots >= 0) & (roots < nodes)).all()), "trees that begin at a node")
        inner = feature >= 0
        expect(bool((feature < columns).all()), "features that exist")
        own = np.flatnonzero(inner)
        for child in (left[inner], right[inner]):
            expect(bool(((child > own) & (child < nodes)).all()), "nodes that lead downwards")
        leaves = left[~inner]
        expect(bool(((leaves >= 0) & (leaves < len(shares))).all()), "leaves that exist")
        return cls(roots, feature, threshold, left, right, shares, columns)


def _cut(tree: Any, leaf: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]:
    """Return which nodes to keep, which of them still split, and whose shares each one has."""
    left, right = np.asarray(tree.children_left), np.asarray(tree.children_right)
    heavy = np.asarray(tree.weighted_n_node_samples) >= leaf
    split = left >= 0
    # A node is worth splitting if one of its parts is heavy: the other gets the node's own shares.
    inner = split & (heavy[left] | heavy[right])
    own = np.arange(len(left))
    parent = np.zeros(len(left), dtype=np.int64)
    parent[left[split]] = parent[right[split]] = own[split]
    kept = inner[parent]
    kept[0] = True
    return kept, inner & kept, np.where(heavy, own, parent)


def _below(threshold: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return float32 thresholds that split float32 features exactly as the float64 ones do."""
    near = threshold.astype(np.float32)
    return np.where(near > threshold, np.nextafter(near, np.float32(-np.inf)), near)
