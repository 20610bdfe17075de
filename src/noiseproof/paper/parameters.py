"""The parameter settings of the paper (supplement, table "Parameters settings")."""

DATASETS = ("mnist", "cifar10", "cifar100", "webvision")

#: The rows of the benchmark tables, in the order of the CIFAR-10 part.
METHODS = (
    "CE", "FL", "GCE", "SCE", "NLNL", "NCE", "NGCE", "NFL", "NFL+RCE", "NCE+MAE", "NCE+RCE",
    "AUL", "AGCE", "AEL", "NCE+AUL", "NCE+AGCE", "NCE+AEL",
)  # fmt: skip

_EVERYWHERE: dict[str, str | None] = {"CE": "CE", "NLNL": "NLNL", "NCE": "NCE"}

#: Loss expressions by data set and method; ``None`` is a dash in the table. On MNIST the paper
#: gives NCE+AUL, NCE+AGCE and NCE+AEL an alpha of 0: they are AUL, AGCE and AEL.
PARAMETERS: dict[str, dict[str, str | None]] = {
    "mnist": _EVERYWHERE
    | {
        "FL": "FL(gamma=0.5)",
        "NFL": "NFL(gamma=0.5)",
        "GCE": "GCE(q=0.7)",
        "NGCE": "NGCE(q=0.7)",
        "SCE": "SCE(alpha=0.01, beta=1, A=-4)",
        "AGCE": "AGCE(a=4, q=0.2)",
        "AUL": "AUL(a=3, p=0.1)",
        "AEL": "AEL(a=3.5)",
        "NFL+RCE": "NFL(gamma=0.5) + 100*RCE(A=-4)",
        "NCE+MAE": "NCE + 100*MAE",
        "NCE+RCE": "NCE + 100*RCE(A=-4)",
        "NCE+AGCE": "AGCE(a=4, q=0.2)",
        "NCE+AUL": "AUL(a=3, p=0.1)",
        "NCE+AEL": "AEL(a=3.5)",
    },
    "cifar10": _EVERYWHERE
    | {
        "FL": "FL(gamma=0.5)",
        "NFL": "NFL(gamma=0.5)",
        "GCE": "GCE(q=0.7)",
        "NGCE": "NGCE(q=0.7)",
        "SCE": "SCE(alpha=0.1, beta=1, A=-4)",
        "AGCE": "AGCE(a=0.6, q=0.6)",
        "AUL": "AUL(a=5.5, p=3)",
        "AEL": "AEL(a=2.5)",
        "NFL+RCE": "NFL(gamma=0.5) + RCE(A=-4)",
        "NCE+MAE": "NCE + MAE",
        "NCE+RCE": "NCE + RCE(A=-4)",
        "NCE+AGCE": "NCE + 4*AGCE(a=6, q=1.5)",
        "NCE+AUL": "NCE + 4*AUL(a=6.3, p=1.5)",
        "NCE+AEL": "NCE + 4*AEL(a=5)",
    },
    "cifar100": _EVERYWHERE
    | {
        "FL": "FL(gamma=0.5)",
        "NFL": "NFL(gamma=0.5)",
        "GCE": "GCE(q=0.7)",
        "NGCE": "NGCE(q=0.7)",
        "SCE": "SCE(alpha=6, beta=1, A=-4)",
        "AGCE": None,
        "AUL": None,
        "AEL": None,
        "NFL+RCE": "10*NFL(gamma=0.5) + RCE(A=-4)",
        "NCE+MAE": "10*NCE + MAE",
        "NCE+RCE": "10*NCE + RCE(A=-4)",
        "NCE+AGCE": "10*NCE + 0.1*AGCE(a=1.8, q=3)",
        "NCE+AUL": "10*NCE + 0.015*AUL(a=6, p=3)",
        "NCE+AEL": "10*NCE + 0.1*AEL(a=1.5)",
    },
    "webvision": _EVERYWHERE
    | {
        "FL": None,
        "NFL": None,
        "GCE": "GCE(q=0.7)",
        "NGCE": "NGCE(q=0.7)",
        "SCE": "SCE(alpha=10, beta=1, A=-4)",
        "AGCE": "AGCE(a=1e-05, q=0.5)",
        "AUL": None,
        "AEL": None,
        "NFL+RCE": None,
        "NCE+MAE": None,
        "NCE+RCE": "50*NCE + 0.1*RCE(A=-4)",
        "NCE+AGCE": "50*NCE + 0.1*AGCE(a=2.5, q=3)",
        "NCE+AUL": None,
        "NCE+AEL": None,
    },
}
