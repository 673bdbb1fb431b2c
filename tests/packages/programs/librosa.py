import librosa
import numpy

wave = librosa.chirp(fmin=110, fmax=880, sr=16000, duration=1)
print(librosa.feature.mfcc(y=wave, sr=16000, n_mfcc=5).mean(axis=1).round(2))
print(librosa.onset.onset_detect(y=wave, sr=16000)[:3], librosa.feature.spectral_centroid(y=wave, sr=16000).mean().round(1))
print(numpy.round(librosa.effects.time_stretch(wave, rate=2.0).shape))
