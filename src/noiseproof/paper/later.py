"""Settings of losses that came after the paper, as their own authors give them."""

#: Loss expressions by method and data set. ANL adds delta times the L1 norm of the weights (5e-5 on
#: CIFAR-10, 5e-7 on CIFAR-100, without weight decay), SR multiplies its 1.2 by 1.03 every epoch.
#: The settings of the epsilon-softmax are for symmetric noise; for asymmetric noise its authors
#: take 0.02 and m = 1000, on CIFAR-100 numbers that depend on the noise rate, none of them here.
#: JAL-FL is not here: its authors keep its settings in a file of their code that we have not seen.
LATER: dict[str, dict[str, str]] = {
    "ANL-CE": {  # Ye et al., NeurIPS 2023
        "cifar10": "5*NCE + 5*NNCE(p_min=1e-07)",
        "cifar100": "10*NCE + NNCE(p_min=1e-07)",
    },
    "ANL-FL": {
        "cifar10": "5*NFL(gamma=0.5) + 5*NNFL(p_min=1e-07, gamma=0.5)",
        "cifar100": "10*NFL(gamma=0.5) + NNFL(p_min=1e-07, gamma=0.5)",
    },
    "JAL-CE": {  # Wang et al., ICCV 2025
        "cifar10": "NCE + AMSE(a=30)",
        "cifar100": "5*NCE + AMSE(a=20)",
    },
    "CE_eps+MAE": {  # Wang et al., NeurIPS 2024
        "cifar10": "0.01*EpsSoftmax(CE, m=100000) + 5*MAE",
    },
    "FL_eps+MAE": {
        "cifar10": "0.01*EpsSoftmax(FL(gamma=0.1), m=100000) + 5*MAE",
    },
    "CE+SR": {  # Zhou et al., ICCV 2021
        "cifar10": "UnitLogits(CE + 1.2*Spread(s=0.1), tau=0.5)",
    },
}
