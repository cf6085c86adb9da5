"""tinker: estimated bytes of model inputs and of training data."""

from tinker import types
from tinker.lib.public_interfaces.training_client import TrainingClient

from originals import holder

CASES = 1_500
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789/:._-"
WIDE_LETTERS = "äöüßéλжあ漢字🙂𝄞"


def record(source):
    client = TrainingClient.__new__(TrainingClient)
    client.holder = holder()
    cases = []
    for number in range(CASES):
        model_input = _model_input(source)
        if number % 3 == 0:
            wire = model_input.model_dump(mode="json")
            size = client.holder.estimate_bytes_count_in_model_input(model_input)
            cases.append({"input": wire, "bytes": size})
            continue
        names = ["target_tokens", "weights", "advantages", "logprobs"]
        inputs = {name: _tensor(source, name) for name in source.sample(names, source.randint(0, 4))}
        datum = types.Datum(model_input=model_input, loss_fn_inputs=inputs)
        cases.append({"datum": datum.model_dump(mode="json"), "bytes": client._estimate_bytes_count(datum)})
    return cases


def _model_input(source):
    return types.ModelInput(chunks=[_chunk(source) for _ in range(source.randint(0, 5))])


def _chunk(source):
    kind = source.choice(["text", "text", "image", "pointer"])
    if kind == "text":
        return types.EncodedTextChunk(tokens=[7] * _length(source, 3_000))
    if kind == "image":
        return types.ImageChunk(data=bytes(_length(source, 3_000)), format="png")
    letters = WIDE_LETTERS if source.random() < 0.2 else LETTERS
    location = "".join(source.choices(letters, k=source.randint(0, 60)))
    return types.ImageAssetPointerChunk(location=location, format="jpeg")


def _tensor(source, name):
    length = _length(source, 2_000)
    if name == "target_tokens":
        return types.TensorData(data=[3] * length, dtype="int64", shape=[length])
    return types.TensorData(data=[0.5] * length, dtype="float32", shape=[length])


def _length(source, longest):
    return source.choice([0, 1, source.randint(0, 20), source.randint(0, 20), source.randint(0, longest)])
