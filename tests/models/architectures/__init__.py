"""The architectures of transformers that are run, by name."""

from architectures.audio import AUDIO
from architectures.decoders import DECODERS
from architectures.encoder_decoders import ENCODER_DECODERS
from architectures.encoders import ENCODERS
from architectures.experts import EXPERTS
from architectures.multimodal import MULTIMODAL
from architectures.state_space import STATE_SPACE
from architectures.vision import VISION

ARCHITECTURES = {
    architecture.name: architecture
    for architecture in (*ENCODERS, *DECODERS, *EXPERTS, *STATE_SPACE, *ENCODER_DECODERS, *VISION, *AUDIO, *MULTIMODAL)
}
