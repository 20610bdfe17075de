"""The example for Lightning: any precision, accumulation, and checkpoints."""

import pytest
import torch
from shipped import LOSS, example, rows
from torch.utils.data import DataLoader, TensorDataset

lightning = pytest.importorskip("lightning")

# Lightning warns of few workers, of short epochs and of torch's future.
pytestmark = pytest.mark.filterwarnings("ignore")


def trained(folder, batch=16, epochs=60, **options):
    torch.manual_seed(1)
    model = example("lightning_classifier").Classifier(4, 3, LOSS)
    trainer = lightning.Trainer(
        max_epochs=epochs, logger=False, accelerator="cpu", devices=1, default_root_dir=folder,
        enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
        log_every_n_steps=1, **options,
    )  # fmt: skip
    trainer.fit(model, DataLoader(TensorDataset(*rows()), batch_size=batch))
    return model, trainer


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed", "16-mixed"])
def test_it_learns_in_any_precision(tmp_path, precision):
    options = {"precision": precision}
    if precision == "16-mixed":  # on a CPU Lightning would take bfloat16 instead
        scaler = torch.amp.GradScaler("cpu")
        plugin = lightning.pytorch.plugins.MixedPrecision("16-mixed", "cpu", scaler)
        options = {"plugins": [plugin]}
    model, trainer = trained(tmp_path, **options)
    x, y = rows()
    assert (model.predict_step([x]).argmax(1) == y).float().mean() > 0.9
    assert trainer.logged_metrics["loss"].dtype == torch.float32
    assert trainer.logged_metrics["loss"].isfinite()


def test_accumulated_batches_are_one_large_batch(tmp_path):
    large, _ = trained(tmp_path, batch=64, epochs=2)
    small, _ = trained(tmp_path, batch=16, epochs=2, accumulate_grad_batches=4)
    for a, b in zip(large.parameters(), small.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


def test_a_checkpoint_has_the_loss_as_text(tmp_path):
    model, trainer = trained(tmp_path, epochs=1)
    trainer.save_checkpoint(tmp_path / "model.ckpt")
    held = torch.load(tmp_path / "model.ckpt", weights_only=True)
    assert held["hyper_parameters"]["loss"] == LOSS
    again = type(model).load_from_checkpoint(tmp_path / "model.ckpt", weights_only=True)
    x, y = rows()
    assert str(again.loss) == LOSS
    torch.testing.assert_close(again.loss(again.model(x), y), model.loss(model.model(x), y))
