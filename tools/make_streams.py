#!/usr/bin/env python3
"""Makes tests/streams/: models that run frame by frame and keep what they need in between, trained
for a moment on made-up sound. <name>.pt2 is the archive, <name>_calib.npz a sequence of frames to
calibrate on, <name>.npz another of 840 frames and torch's outputs for them, both from the state at
rest. What each model is for stands in tests/unit/streams_test.c.

    python tools/make_streams.py
"""

import copy
import math

import numpy
import torch
import torch.nn.functional as F
from torch import nn

import make_fixtures as base

FOLDER = base.ROOT / "tests/streams"
CALIBRATION, FRAMES, SAMPLES, BANDS = 480, 840, 32, 16


def sound(frames):
    """Frames of samples, and for each whether a voice is on: harmonics that come and go, a hundred times
    louder than the noise between."""
    voiced, on = torch.zeros(frames), False
    at = 0
    while at < frames:
        length = int(torch.randint(8, 40, ()))
        voiced[at:at + length] = float(on)
        at, on = at + length, not on
    time = torch.arange(frames * SAMPLES, dtype=torch.float32)
    pitch = 0.35 + 0.1 * torch.sin(time / 900)
    phase = torch.cumsum(pitch, 0)
    voice = sum(torch.sin(phase * k) / k for k in (1, 2, 3))
    loud = 0.15 * voiced.repeat_interleave(SAMPLES) * (0.55 + 0.45 * torch.sin(time / 340))
    x = loud * voice + 0.002 * torch.randn(frames * SAMPLES)
    return ((x * 4096).round() / 4096).reshape(frames, 1, SAMPLES), voiced


def bands(x):
    """Energies of parts of the spectrum, as logarithms."""
    power = torch.fft.rfft(x, dim=-1).abs()[..., 1:BANDS + 1] ** 2
    return ((power + 1e-5).log() * 16).round() / 16


def keep(model, name, value):
    """In a buffer; while training, in its place, for gradients to go through."""
    if model.training:
        setattr(model, name, value)
    else:
        getattr(model, name).copy_(value)


class Vad(nn.Module):
    """Magnitudes of a short Fourier transform, then an LSTM whose two states share a tensor that the
    caller carries."""

    def __init__(self):
        super().__init__()
        angle = 2 * math.pi * torch.arange(BANDS + 1)[:, None] * torch.arange(SAMPLES)[None] / SAMPLES
        self.register_buffer("basis", torch.cat([angle.cos(), angle.sin()])[:, None])
        self.mix = nn.Conv1d(BANDS + 1, 16, 1)
        self.cell = nn.LSTMCell(16, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, x, state):
        parts = F.conv1d(x, self.basis)
        size = torch.sqrt(parts[:, :BANDS + 1] ** 2 + parts[:, BANDS + 1:] ** 2)
        x = F.relu(self.mix(size)).squeeze(2)
        h, c = self.cell(x, (state[0], state[1]))
        return torch.sigmoid(self.head(F.relu(h))), torch.stack([h, c])


class Denoiser(nn.Module):
    """A GRU with its hidden state in a buffer makes a mask of bands."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(BANDS, 16)
        self.cell = nn.GRUCell(16, 16)
        self.leave = nn.Linear(16, BANDS)
        self.register_buffer("h", torch.zeros(1, 16))

    def forward(self, x):
        h = self.cell(torch.tanh(self.enter(x)), self.h)
        keep(self, "h", h)
        return torch.sigmoid(self.leave(h))


class Keyword(nn.Module):
    """Convolutions over time, each with a ring of the frames that it still needs."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(BANDS, 16, 3)
        self.depthwise = nn.Conv1d(16, 16, 5, groups=16)
        self.pointwise = nn.Conv1d(16, 16, 1)
        self.head = nn.Linear(16, 4)
        self.register_buffer("before_first", torch.zeros(1, BANDS, 2))
        self.register_buffer("before_depthwise", torch.zeros(1, 16, 4))

    def remembered(self, name, x):
        x = torch.cat([getattr(self, name), x], 2)
        keep(self, name, x[:, :, 1:])
        return x

    def forward(self, x):
        x = F.relu(self.first(self.remembered("before_first", x)))
        x = F.relu(self.pointwise(F.relu(self.depthwise(self.remembered("before_depthwise", x)))))
        return self.head(x.squeeze(2))


class Gain(nn.Module):
    """Energies over a mean that follows them slowly: what is added in a step is far below a step of
    8 bits."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(BANDS, BANDS)
        self.register_buffer("mean", torch.zeros(1, BANDS))

    def forward(self, x):
        self.mean.mul_(0.99).add_(0.01 * x)
        return torch.tanh(self.mix(x - self.mean))


def carried(model, frames, state=None):
    """What a model makes of frame after frame; a state goes in and out if there is one."""
    out = []
    for x in frames:
        if state is None:
            out.append(model(x))
        else:
            y, state = model(x, state)
            out.append(y)
    return torch.stack(out)


def reset(model):
    for name, buffer in list(model.named_buffers()):
        if name != "basis":
            setattr(model, name, torch.zeros_like(buffer))


def train(model, frames, wanted, loss, state=None, steps=150):
    """Truncated back-propagation through pieces of 40 frames, each from the state at rest."""
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for step in range(steps):
        at = int(torch.randint(0, len(frames) - 40, ()))
        reset(model)
        trial = copy.deepcopy(model)
        out = carried(trial, frames[at:at + 40], state)
        loss(out, wanted[at:at + 40]).backward()
        for own, other in zip(model.parameters(), trial.parameters()):
            own.grad = other.grad
        optimizer.step()
    reset(model)


def write(name, model, calibration, frames, state=None):
    inputs = (frames[0],) if state is None else (frames[0], state)
    model = model.eval()
    base.write_if_changed(FOLDER / f"{name}.pt2", base.archive_bytes(base.export(model, inputs)))
    with torch.no_grad():
        arrays = {"in0": frames, "out0": carried(copy.deepcopy(model), frames, state)}
    base.write_if_changed(FOLDER / f"{name}_calib.npz", base.arrays_bytes({"in0": calibration.numpy()}))
    base.write_if_changed(FOLDER / f"{name}.npz", base.arrays_bytes({k: v.numpy() for k, v in arrays.items()}))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    practice, heard = sound(2000)
    calibration, _ = sound(CALIBRATION)
    frames, _ = sound(FRAMES)
    spectrum = [bands(x) for x in (practice, calibration, frames)]
    rest = torch.zeros(2, 1, 16)

    vad = Vad()
    train(vad, practice[:, None], heard[:, None, None], F.binary_cross_entropy, rest)
    write("vad", vad, calibration[:, None], frames[:, None], rest)

    denoiser, mask = Denoiser(), torch.sigmoid(spectrum[0] - spectrum[0].mean())
    train(denoiser, spectrum[0], mask, F.mse_loss)
    write("denoiser", denoiser, *spectrum[1:])

    keyword, columns = Keyword(), [x.transpose(1, 2)[:, None] for x in spectrum]
    loud = heard.long() + 2 * (spectrum[0][:, 0, :4].mean(1) > spectrum[0][:, 0, 4:8].mean(1)).long()
    train(keyword, columns[0], loud, lambda y, k: F.cross_entropy(y.flatten(0, 1), k))
    write("keyword", keyword, *columns[1:])

    gain = Gain()
    train(gain, spectrum[0], torch.tanh(spectrum[0] - spectrum[0].mean(0)), F.mse_loss)
    write("gain", gain, *spectrum[1:])


if __name__ == "__main__":
    main()
