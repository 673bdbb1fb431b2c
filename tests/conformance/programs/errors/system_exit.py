"""SystemExit is an exception like others for who runs the program."""

import sys

import torch

print(torch.ones(1))
sys.exit("a reason")
