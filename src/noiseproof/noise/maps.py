"""Facts of the paper's data sets: classes, super-classes, and which class is taken for which."""

MNIST = tuple("0123456789")

CIFAR10 = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)

SUPERCLASSES = {
    "aquatic_mammals": "beaver dolphin otter seal whale",
    "fish": "aquarium_fish flatfish ray shark trout",
    "flowers": "orchid poppy rose sunflower tulip",
    "food_containers": "bottle bowl can cup plate",
    "fruit_and_vegetables": "apple mushroom orange pear sweet_pepper",
    "household_electrical_devices": "clock keyboard lamp telephone television",
    "household_furniture": "bed chair couch table wardrobe",
    "insects": "bee beetle butterfly caterpillar cockroach",
    "large_carnivores": "bear leopard lion tiger wolf",
    "large_man-made_outdoor_things": "bridge castle house road skyscraper",
    "large_natural_outdoor_scenes": "cloud forest mountain plain sea",
    "large_omnivores_and_herbivores": "camel cattle chimpanzee elephant kangaroo",
    "medium_mammals": "fox porcupine possum raccoon skunk",
    "non-insect_invertebrates": "crab lobster snail spider worm",
    "people": "baby boy girl man woman",
    "reptiles": "crocodile dinosaur lizard snake turtle",
    "small_mammals": "hamster mouse rabbit shrew squirrel",
    "trees": "maple_tree oak_tree palm_tree pine_tree willow_tree",
    "vehicles_1": "bicycle bus motorcycle pickup_truck train",
    "vehicles_2": "lawn_mower rocket streetcar tank tractor",
}

_COARSE_OF = {fine: coarse for coarse, fines in SUPERCLASSES.items() for fine in fines.split()}

# The data set numbers its fine labels in alphabetical order.
CIFAR100 = tuple(sorted(_COARSE_OF))
CIFAR100_COARSE = tuple(_COARSE_OF[fine] for fine in CIFAR100)

CLASSES = {"digits": MNIST, "mnist": MNIST, "cifar10": CIFAR10, "cifar100": CIFAR100}


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


# MNIST: 7 -> 1, 2 -> 7, 5 <-> 6, 3 -> 8. CIFAR-10: truck -> automobile, bird -> airplane,
# deer -> horse, cat <-> dog (the paper's text prints "CAR <-> DOG"). The digits of scikit-learn
# are not in the paper: they are digits, and take MNIST's map.
_DIGITS = {7: 1, 2: 7, 5: 6, 6: 5, 3: 8}
MAPS: dict[str, dict[int, int]] = {
    "digits": _DIGITS,
    "mnist": _DIGITS,
    "cifar10": {9: 1, 2: 0, 4: 7, 3: 5, 5: 3},
    "cifar100": next_in_group(CIFAR100_COARSE),
}
