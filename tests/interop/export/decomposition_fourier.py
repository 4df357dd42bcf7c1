"""Calls of torch.fft and of short transforms, with example inputs, for decompositions."""

import torch


def r(*sizes, dtype=torch.float32):
    torch.manual_seed(0)
    return torch.randn(*sizes, dtype=dtype)


def functions():
    """Name, function and inputs of each."""
    fft = torch.fft
    real, complex_ = (r(4, 8),), (r(4, 8, dtype=torch.complex64),)
    cases = {}
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2", "fftn", "ifftn", "irfftn", "hfftn"):
        function = getattr(fft, name)
        several = name[-1] in "2n"
        resized = (lambda x, f=function: f(x, s=(3, 10), dim=(1, 0), norm="ortho")) if several else (lambda x, f=function: f(x, 5, 0, "ortho"))
        cases[f"fft_{name}"] = function, real
        cases[f"fft_{name}_resized"] = resized, real
        if name not in ("rfft", "ihfft", "rfft2", "ihfft2"):
            cases[f"fft_{name}_complex"] = function, complex_
            cases[f"fft_{name}_complex_resized"] = resized, complex_
    cases["fft_integers"] = fft.fft, (torch.arange(32).reshape(4, 8),)
    cases["fft_forward"] = lambda x: fft.fft(x, 3, -1, "forward"), complex_
    cases["fft_fftshift"] = lambda x: fft.ifftshift(fft.fftshift(x), dim=1), real
    cases["fft_frequencies"] = lambda x: x[:, :5] + fft.rfftfreq(8, 0.5), real
    for periodic in (True, False):
        cases[f"hann_window_{periodic}"] = lambda x, p=periodic: x + torch.hann_window(8, periodic=p), real
    signal, window = r(2, 100), torch.hann_window(16)
    cases["stft"] = lambda x, w: torch.stft(x, 16, 4, window=w, return_complex=True), (signal, window)
    cases["stft_padded"] = (
        lambda x, w: torch.stft(x, 20, 4, 16, w, normalized=True, onesided=False, return_complex=True),
        (signal[0], window),
    )
    cases["stft_plain"] = lambda x: torch.stft(x, 16, center=False, return_complex=True), (signal,)
    cases["stft_aligned"] = lambda x: torch.stft(x, 16, win_length=9, center=False, return_complex=True, align_to_window=True), (signal,)
    cases["stft_real"] = lambda x: torch.stft(x, 16, return_complex=False), (signal,)
    cases["istft"] = lambda x, w: torch.istft(x, 16, 4, window=w), (torch.stft(signal, 16, 4, window=window, return_complex=True), window)
    return cases
