"""compute_loss gives the Trainer the loss of the labels it means, whatever the batches."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

import noiseproof as nf
from noiseproof.errors import NoiseproofError, ParameterError, ShapeError, TargetError
from noiseproof.integrations.transformers import compute_loss

hf = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

LOSS = "NCE + 4*AGCE(a=6, q=1.5)"
WORDS, LENGTH, LABELS = 31, 6, 5
BERT = {
    "vocab_size": WORDS, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
    "intermediate_size": 16, "max_position_embeddings": 16, "num_labels": LABELS,
    "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
}  # fmt: skip
LLAMA = {
    "vocab_size": WORDS, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
    "num_key_value_heads": 2, "intermediate_size": 16, "max_position_embeddings": 16,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


def gpt2():
    sizes = {"n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 16, "vocab_size": WORDS}
    off = {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
    return hf.GPT2LMHeadModel(hf.GPT2Config(**sizes, **off, bos_token_id=1, eos_token_id=2))


MODELS = {
    "sequences": lambda: hf.BertForSequenceClassification(hf.BertConfig(**BERT)),
    "tokens": lambda: hf.BertForTokenClassification(hf.BertConfig(**BERT)),
    "gpt2": gpt2,
    "llama": lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA)),
}
CAUSAL = ("gpt2", "llama")


@pytest.fixture(params=MODELS)
def kind(request):
    return request.param


def made(kind):
    torch.manual_seed(0)
    return MODELS[kind]()


def examples(kind, rows=8):
    """Rows whose numbers of labelled tokens differ, as those of texts do."""
    torch.manual_seed(1)
    words = torch.randint(3, WORDS, (rows, LENGTH))
    labels = torch.randint(LABELS, (rows,)) if kind == "sequences" else words % LABELS
    if kind in CAUSAL:
        labels = words.clone()
    if kind != "sequences":
        for row in range(rows):
            labels[row, LENGTH - row % 4 :] = -100
            labels[row, 1 + row % 2] = -100
    return words, labels


def by_hand(model, words, labels, kind, loss=LOSS):
    """The mean over all labelled items, written out with the loss alone."""
    logits = model(input_ids=words).logits
    if kind in CAUSAL:
        logits, labels = logits[:, :-1], labels[:, 1:]
    return nf.loss(loss)(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def gradients(model, value):
    return torch.autograd.grad(value, list(model.parameters()), allow_unused=True)


def same(found, wanted, tolerance=1e-6):
    for a, b in zip(found, wanted, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(a, b, rtol=1e-4, atol=tolerance)


def one_step(tmp_path, kind, batch, accumulation, labels=None, processors=1, **options):
    """The weights after one step of plain gradient descent by the Trainer, and what it logged."""
    model = made(kind)
    words, own = examples(kind)
    labels = own if labels is None else labels
    rows = [{"input_ids": w, "labels": y} for w, y in zip(words, labels, strict=True)]
    chosen = {"linear": model} if options.pop("linear", False) else {}
    arguments = hf.TrainingArguments(
        tmp_path, per_device_train_batch_size=batch, gradient_accumulation_steps=accumulation,
        max_steps=1, learning_rate=1.0, max_grad_norm=0, optim="sgd",
        lr_scheduler_type="constant", report_to=[], save_strategy="no", disable_tqdm=True,
        use_cpu=True, logging_steps=1,
        **options,
    )  # fmt: skip
    # What DataParallel does is left: without GPUs the model runs once, on the whole batch.
    arguments._n_gpu = processors
    trainer = hf.Trainer(
        model, arguments, train_dataset=rows, compute_loss_func=compute_loss(LOSS, **chosen)
    )
    trainer.train()
    return model, trainer.state.log_history[0]["loss"]


def test_the_value_and_the_gradient_are_those_of_the_loss(kind):
    model, (words, labels) = made(kind), examples(kind)
    value = compute_loss(LOSS)(model(input_ids=words), labels)
    expected = by_hand(model, words, labels, kind)
    torch.testing.assert_close(value, expected)
    same(gradients(model, value), gradients(model, expected))


def test_cross_entropy_is_the_models_own_loss(kind):
    model, (words, labels) = made(kind), examples(kind)
    own = model(input_ids=words, labels=labels).loss
    torch.testing.assert_close(compute_loss("CE")(model(input_ids=words), labels), own)


@pytest.mark.parametrize(("batch", "accumulation"), [(8, 1), (2, 4)], ids=["large", "accumulated"])
@pytest.mark.parametrize("kind", ["sequences", "tokens", "llama"], indirect=True)
def test_accumulated_steps_are_one_large_batch(tmp_path, kind, batch, accumulation):
    # The batches hold different numbers of labels: a mean of means would be another gradient.
    model, (words, labels) = made(kind), examples(kind)
    expected = by_hand(model, words, labels, kind)
    moved = [
        w.detach() if g is None else w.detach() - g
        for w, g in zip(model.parameters(), gradients(model, expected), strict=True)
    ]
    trained, logged = one_step(tmp_path, kind, batch, accumulation)
    same([w.detach() for w in trained.parameters()], moved, 1e-5)
    assert logged == pytest.approx(expected.item(), rel=1e-4)


@pytest.mark.parametrize("average", [True, False], ids=["average", "each"])
@pytest.mark.parametrize("soft", [False, True], ids=["indices", "soft"])
def test_several_gpus_of_one_process_are_one_large_batch(tmp_path, soft, average):
    """DataParallel gathers the logits; the Trainer repeats the number of labels for each GPU."""
    _, labels = examples("sequences")
    labels = torch.nn.functional.one_hot(labels, LABELS).float() if soft else labels
    options = {"average_tokens_across_devices": average}
    one, said = one_step(tmp_path, "sequences", 4, 2, labels, **options)
    two, logged = one_step(tmp_path, "sequences", 2, 2, labels, processors=2, **options)
    same([w.detach() for w in two.parameters()], [w.detach() for w in one.parameters()], 1e-5)
    assert logged == pytest.approx(said, rel=1e-4)


@pytest.mark.parametrize("kind", ["gpt2", "llama"], indirect=True)
def test_without_the_logits_of_a_step_the_model_trains_the_same(tmp_path, kind):
    plain, loss = one_step(tmp_path, kind, 8, 1)
    linear, also = one_step(tmp_path, kind, 2, 4, linear=True)
    same([w.detach() for w in linear.parameters()], [w.detach() for w in plain.parameters()], 1e-5)
    assert also == pytest.approx(loss, rel=1e-4)


def test_only_the_last_logits_are_computed_in_training():
    model, (words, labels) = made("llama"), examples("llama")
    function = compute_loss(LOSS, linear=model)
    outputs = model.train()(input_ids=words)
    assert outputs.logits.shape == (8, 1, WORDS)
    value = function(outputs, labels)
    outputs = model.eval()(input_ids=words)
    assert outputs.logits.shape == (8, LENGTH, WORDS)  # an evaluation wants predictions
    torch.testing.assert_close(function(outputs, labels), value)


def test_a_model_whose_head_cannot_be_left_out():
    with pytest.raises(ParameterError, match="BertForSequenceClassification has no head"):
        compute_loss(LOSS, linear=made("sequences"))


@pytest.mark.parametrize("name", ["Gemma2", "Granite", "Cohere", "OPT"])
def test_a_model_that_changes_what_its_head_reads_or_returns(name):
    # By nearly nothing, while its logits are as small as those of new weights are.
    own = {
        "Gemma2": {"final_logit_softcapping": 30.0, "head_dim": 4, "query_pre_attn_scalar": 4},
        "Granite": {"logits_scaling": 1.0001},
        "Cohere": {"logit_scale": 0.9999},
        "OPT": {"ffn_dim": 16, "word_embed_proj_dim": 8},
    }[name]
    sizes = LLAMA if name != "OPT" else {k: v for k, v in LLAMA.items() if "key" not in k}
    config = getattr(hf, f"{name}Config")(**sizes, **own)
    model = getattr(hf, f"{name}ForCausalLM")(config).train()
    words, labels = examples("llama")
    function = compute_loss(LOSS, linear=model)
    with pytest.raises(ParameterError, match="its last layer reads or returns: leave `linear` out"):
        function(model(input_ids=words), labels)


def test_class_weights_weigh_the_items_of_every_micro_batch_alike():
    model, (words, labels) = made("sequences"), examples("sequences")
    weight = torch.arange(1.0, LABELS + 1)
    function = compute_loss(nf.loss(LOSS, weight=weight))
    whole = function(model(input_ids=words), labels, num_items_in_batch=8)
    halves = [function(model(input_ids=words[i::2]), labels[i::2], 8) for i in (0, 1)]
    torch.testing.assert_close(whole, sum(halves))
    rows = nf.loss(LOSS, reduction="none")(model(input_ids=words).logits, labels)
    torch.testing.assert_close(whole, (rows * weight[labels]).sum() / 8)


def test_soft_labels_are_counted_by_rows():
    model, (words, labels) = made("sequences"), examples("sequences")
    soft = nn.functional.one_hot(labels, LABELS).float()
    outputs = model(input_ids=words)
    # The Trainer counts every number that is not -100.
    counted = soft.ne(-100).sum()
    expected = compute_loss(LOSS)(outputs, labels, num_items_in_batch=8)
    torch.testing.assert_close(compute_loss(LOSS)(outputs, soft, counted), expected)
    torch.testing.assert_close(compute_loss(LOSS)(outputs, soft), expected)


@pytest.mark.parametrize(("batch", "accumulation"), [(8, 1), (2, 4)], ids=["large", "accumulated"])
@pytest.mark.parametrize("kind", ["sequences", "tokens", "llama"], indirect=True)
def test_a_step_on_soft_labels_is_one_on_their_mean(tmp_path, kind, batch, accumulation):
    model, (words, _) = made(kind), examples(kind)
    logits = model(input_ids=words).logits
    soft = torch.randn_like(logits).softmax(-1)
    shifted = (logits[:, :-1], soft[:, 1:]) if kind in CAUSAL else (logits, soft)
    expected = nf.loss(LOSS)(*(x.flatten(0, -2) for x in shifted))
    moved = [
        w.detach() if g is None else w.detach() - g
        for w, g in zip(model.parameters(), gradients(model, expected), strict=True)
    ]
    trained, logged = one_step(tmp_path, kind, batch, accumulation, soft)
    same([w.detach() for w in trained.parameters()], moved, 1e-5)
    assert logged == pytest.approx(expected.item(), rel=1e-4)


def test_shift_can_be_said():
    model, (words, labels) = made("tokens"), examples("tokens")
    outputs = model(input_ids=words)
    shifted = compute_loss("MAE", shift=True)(outputs, labels)
    logits = outputs.logits[:, :-1].reshape(-1, LABELS)
    torch.testing.assert_close(shifted, nf.MAE()(logits, labels[:, 1:].reshape(-1)))


VISION = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1,
          "num_attention_heads": 2, "image_size": 16, "patch_size": 8}  # fmt: skip


def blip():
    text = {"vocab_size": WORDS, "hidden_size": 16, "encoder_hidden_size": 16,
            "intermediate_size": 16, "projection_dim": 16, "num_hidden_layers": 1,
            "num_attention_heads": 2, "bos_token_id": 1, "sep_token_id": 2}  # fmt: skip
    config = hf.BlipConfig(text_config=text, vision_config=VISION, label_smoothing=0.0)
    return hf.BlipForConditionalGeneration(config)


def blip2():
    text = {"model_type": "opt", "vocab_size": WORDS, "hidden_size": 16, "ffn_dim": 16,
            "num_hidden_layers": 1, "num_attention_heads": 2, "word_embed_proj_dim": 16,
            "pad_token_id": 0}  # fmt: skip
    former = {"vocab_size": WORDS, "hidden_size": 16, "intermediate_size": 16,
              "num_hidden_layers": 1, "num_attention_heads": 2,
              "encoder_hidden_size": 16}  # fmt: skip
    config = hf.Blip2Config(
        vision_config=VISION, qformer_config=former, text_config=text, num_query_tokens=1,
        image_token_index=WORDS - 1,
    )  # fmt: skip
    return hf.Blip2ForConditionalGeneration(config)


def reformer():
    sizes = {"hidden_size": 16, "attention_head_size": 8, "num_attention_heads": 2,
             "feed_forward_size": 16, "attn_layers": ["local"], "axial_pos_embds": False,
             "max_position_embeddings": 8, "local_attn_chunk_length": 4}  # fmt: skip
    return hf.ReformerModelWithLMHead(hf.ReformerConfig(vocab_size=WORDS, is_decoder=True, **sizes))


def xlnet():
    sizes = {"d_model": 16, "n_layer": 1, "n_head": 2, "d_inner": 16}
    return hf.XLNetLMHeadModel(hf.XLNetConfig(vocab_size=WORDS, **sizes))


def t5():
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    return hf.T5ForConditionalGeneration(
        hf.T5Config(vocab_size=WORDS, decoder_start_token_id=0, **sizes)
    )


@pytest.mark.parametrize("make", [blip, blip2, reformer, xlnet, t5], ids=lambda make: make.__name__)
def test_any_model_of_transformers_has_its_own_shift_or_is_asked_for_it(make):
    torch.manual_seed(0)
    model, words = make().eval(), torch.randint(3, WORDS - 1, (2, 8))
    words[:, 0] = WORDS - 1 if make is blip2 else 1
    given = {"input_ids": words}
    if make in (blip, blip2):
        given["pixel_values"] = torch.randn(2, 3, 16, 16)
    own = model(**given, labels=words).loss
    if make is t5:
        given["decoder_input_ids"] = model.prepare_decoder_input_ids_from_labels(words)
    outputs, shift = model(**given), None
    if make in (blip, blip2, reformer):
        with pytest.raises(ParameterError, match=r"give shift=True .* or shift=False") as caught:
            compute_loss("CE")(outputs, words)
        assert "\n" not in str(caught.value)
        shift = True
    torch.testing.assert_close(compute_loss("CE", shift=shift)(outputs, words), own)


def test_the_loss_that_is_given_stays_as_it_was():
    model, (words, labels) = made("sequences"), examples("sequences")
    outputs = model(input_ids=words)
    loss = nf.MAE(reduction="none")
    function = compute_loss(loss)
    function(outputs, labels)
    with pytest.raises(TargetError):
        function(outputs, labels + LABELS)
    assert (loss.reduction, str(loss)) == ("none", "MAE")


@pytest.mark.parametrize("text", ["ClippedCE(t=0.1)", "NCE + 2*ClippedCE(t=0.1)"])
@pytest.mark.parametrize("linear", [False, True])
def test_what_is_changed_between_steps_counts(text, linear):
    # As a callback would: of the clipping, or of a weight that grows with the epochs.
    loss, (words, labels) = nf.loss(text), examples("llama")
    model = made("llama").train()
    function = compute_loss(loss, **({"linear": model} if linear else {}))
    before = function(model(input_ids=words), labels)
    (loss.terms[-1] if "+" in text else loss).t = 0.9
    found = function(model(input_ids=words), labels)
    expected = by_hand(made("llama"), words, labels, "llama", str(loss))
    torch.testing.assert_close(found, expected)
    assert abs(found - before) > 0.1


def test_an_ignored_label_is_one_that_the_trainer_does_not_count():
    with pytest.raises(ParameterError, match=r"ignore_index=0: .* label what to ignore as -100"):
        compute_loss(nf.MAE(ignore_index=0))


def test_mistakes_are_one_line():
    model, (words, labels) = made("sequences"), examples("sequences")
    outputs = model(input_ids=words)
    for wrong, error, text in (
        ((outputs.to_tuple(), labels), ParameterError, "return_dict=True"),
        ((outputs, None), ParameterError, "no `labels`"),
        ((outputs, labels[:3]), ShapeError, r"expected integer labels of shape \(8,\)"),
        ((outputs, labels.float()), ShapeError, "got torch.float32"),
        ((outputs, torch.ones(8, LABELS)), TargetError, "multi-label"),
        ((outputs, torch.eye(8)[:, :LABELS]), TargetError, "add up to 1"),
    ):
        with pytest.raises(error, match=text) as caught:
            compute_loss(LOSS)(*wrong)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "labels", "shift"),
    [
        ((2, 3, 4), [[0, 1, 2]] * 2, None),
        ((2, 4), torch.zeros(2, dtype=torch.int64), True),
        ((), torch.tensor(0), False),
        ((2, 3, 4), torch.zeros(2, 5, dtype=torch.int64), True),
    ],
    ids=["list", "no tokens", "a number", "other lengths"],
)
def test_what_a_trainer_cannot_have_given_is_one_line(shape, labels, shift):
    outputs = SimpleNamespace(logits=torch.randn(shape))
    with pytest.raises(NoiseproofError) as caught:
        compute_loss("GCE", shift=shift)(outputs, labels)
    assert "\n" not in str(caught.value)
    with pytest.raises(ParameterError, match="expected `linear` to be the model"):
        compute_loss("GCE", linear="gpt2")
