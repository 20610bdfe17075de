"""WebVision-mini: images of the web."""

from noiseproof.known.entry import File, Known

WEBVISION_MINI = Known(
    "webvision-mini",
    "WebVision 1.0, Google part, first 50 concepts: 65,944 + 2,500 colour images",
    reader="noiseproof.data.webvision",
    # The names are in a file of the data set.
    classes=tuple(map(str, range(50))),
    files=(File("info/train_filelist_google.txt"), File("info/val_filelist.txt")),
    page="https://data.vision.ee.ethz.ch/cvl/webvision/download.html",
    # ImageNet's.
    mean=(0.485, 0.456, 0.406),
    std=(0.229, 0.224, 0.225),
    samples=(65_944, 2_500),
    streamed=True,
    recipes={
        "paper": {
            "network": "resnet50", "epochs": 250, "batch": 512, "lr": 0.4, "nesterov": True,
            "weight_decay": 3e-5, "schedule": "exponential", "decay": 0.97,
            "augment": ("shift", "colour", "flip"),
        }
    },
    paper="webvision",
)  # fmt: skip
