"""Fourier transforms and their inverses."""

import torch
from showing import show

x = torch.tensor([1.0, -2, 3, 0, 5, 1, -1, 4], dtype=torch.float64)
show("fft", torch.fft.fft(x))
show("rfft", torch.fft.rfft(x, norm="ortho"))
show("back", torch.fft.irfft(torch.fft.rfft(x)))
show("fft2", torch.fft.fft2(x.reshape(2, 4)))
show("shift", torch.fft.fftshift(torch.fft.fftfreq(8)))
spectrum = torch.stft(x.float().repeat(8), 16, window=torch.hann_window(16), return_complex=True)
show("stft", spectrum.abs().gt(1).sum(0))
show("istft", torch.istft(spectrum, 16, window=torch.hann_window(16)).round(decimals=3)[:8])
