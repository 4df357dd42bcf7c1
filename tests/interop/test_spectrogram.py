"""Models that listen: a mel spectrogram and its way back, exported by PyTorch and run here, of static and other lengths."""

import math
import os

import pytest
import torch
from torch.export import Dim

flambeau_package = pytest.importorskip("flambeau", reason="the Python package is not installed (pip install ./python)")

from flambeau_torch import to_torch, values_to_flambeau  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
RATE = 16000


def mel_filters(bins, count):
    """Triangles over the frequencies, evenly spaced by ear."""
    hertz = torch.linspace(0, RATE / 2, bins)
    mels = torch.linspace(0, 2595 * math.log10(1 + RATE / 2 / 700), count + 2)
    edges = 700 * (10 ** (mels / 2595) - 1)
    up = (hertz[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - hertz[None]) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(up, down).clamp(min=0)


class MelSpectrogram(torch.nn.Module):
    """What the speech models of today begin with, and a layer that uses it."""

    def __init__(self, n_fft=400, hop=160, mels=80):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("filters", mel_filters(n_fft // 2 + 1, mels))
        self.layer = torch.nn.Conv1d(mels, 16, 3, padding=1)

    def forward(self, signal):
        spectrum = torch.stft(signal, self.n_fft, self.hop, window=self.window, return_complex=True)
        mel = self.filters @ spectrum[..., :-1].abs().square()
        log = torch.clamp(mel, min=1e-10).log10()
        log = torch.maximum(log, log.max() - 8.0)
        return self.layer((log + 4) / 4)


class Denoise(torch.nn.Module):
    """To the spectra, through a mask, and back to a signal."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(256))

    def forward(self, signal):
        spectrum = torch.stft(signal, 256, 64, window=self.window, return_complex=True)
        mask = torch.sigmoid(spectrum.abs() - 1)
        return torch.istft(spectrum * mask, 256, 64, window=self.window, length=signal.shape[-1])


class Mixer(torch.nn.Module):
    """A layer in the frequencies of an image, as FNet and GFNet have it."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(12, 7, 3, 2))

    def forward(self, x):
        spectrum = torch.fft.rfft2(x, dim=(1, 2), norm="ortho") * torch.view_as_complex(self.weight)
        return torch.fft.irfft2(spectrum, s=x.shape[1:3], dim=(1, 2), norm="ortho") + torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real


CASES = {
    "mel": (MelSpectrogram, lambda n: (torch.randn(2, n),), 4000, {"signal": {0: Dim.AUTO, 1: Dim.AUTO}}),
    "denoise": (Denoise, lambda n: (torch.randn(2, n),), 2048, None),
    "mixer": (Mixer, lambda n: (torch.randn(n, 12, 12, 3),), 2, {"x": {0: Dim.AUTO}}),
}


@pytest.mark.parametrize("is_decomposed", [False, True], ids=["as exported", "decomposed"])
@pytest.mark.parametrize("name", CASES)
def test_spectra(name, is_decomposed, tmp_path):
    torch.manual_seed(0)
    kind, inputs, size, dynamic = CASES[name]
    model = kind().eval()
    for shapes in (None, dynamic) if dynamic else (None,):
        exported = torch.export.export(model, inputs(size), dynamic_shapes=shapes)
        if is_decomposed:
            exported = exported.run_decompositions()
        path = tmp_path / f"{name}.pt2"
        torch.export.save(exported, path)
        program = flambeau_package.load(os.fspath(path))
        for length in (size, size + 1000 if name == "mel" else size + 1) if shapes else (size,):
            args = inputs(length)
            with torch.no_grad():
                expected = model(*args)
            result = to_torch(program(*values_to_flambeau(args)))
            torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)
