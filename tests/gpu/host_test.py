"""multipy.Pool, the executor and DataLoader beside a host that uses the same GPU. Needs one."""

import pathlib
import sys
import tempfile
import unittest

import torch
import torch.utils.data

import multipy

MODELS = """
import torch

def address():
    return lambda tensor: (str(tensor.device), tensor.data_ptr())

def linear(weights):
    layer = torch.nn.Linear(64, 8, device="meta")
    layer.load_state_dict(weights, assign=True)
    layer.requires_grad_(False)
    return lambda x: (layer.weight.data_ptr(), layer(x))

def training():
    def train(seed):
        torch.manual_seed(seed)
        model = torch.nn.Linear(16, 4).cuda()
        model(torch.randn(8, 16, device="cuda")).square().mean().backward()
        return model.weight.grad
    return train

def double(x):
    return x * 2
"""


def setUpModule():
    global folder
    folder = tempfile.TemporaryDirectory()
    pathlib.Path(folder.name, "gpu_models.py").write_text(MODELS)
    sys.path.insert(0, folder.name)


class Together(unittest.TestCase):
    def test_tensors_of_the_host_are_not_copied(self):
        x = torch.ones(1000, device="cuda")
        with multipy.Pool(2, "gpu_models:address") as pool:
            for _ in range(4):
                self.assertEqual(pool(x), ("cuda:0", x.data_ptr()))

    def test_weights_are_there_once(self):
        layer = torch.nn.Linear(64, 8).cuda().requires_grad_(False)
        x = torch.randn(3, 64, device="cuda")
        with multipy.Pool(3, "gpu_models:linear", args=(layer.state_dict(),)) as pool:
            for where, found in pool.map([x] * 12):
                self.assertEqual(where, layer.weight.data_ptr())
                self.assertTrue(torch.equal(found, layer(x)))

    def test_training_in_workers_and_the_host_at_once(self):
        with multipy.Pool(3, "gpu_models:training") as pool:
            found = list(pool.map(list(range(9))))
            here = []
            for seed in range(9):
                torch.manual_seed(seed)
                model = torch.nn.Linear(16, 4).cuda()
                model(torch.randn(8, 16, device="cuda")).square().mean().backward()
                here.append(model.weight.grad)
            for theirs, ours in zip(found, here):
                self.assertTrue(torch.equal(theirs, ours))

    def test_executor(self):
        import gpu_models

        with multipy.InterpreterPoolExecutor(2) as executor:
            found = list(executor.map(gpu_models.double, [torch.full((3,), i, device="cuda") for i in range(6)]))
        self.assertEqual([int(t.sum()) for t in found], [6 * i for i in range(6)])
        self.assertTrue(all(t.is_cuda for t in found))

    def test_loader_with_pinned_memory(self):
        data = torch.utils.data.TensorDataset(torch.arange(64.0).reshape(32, 2))
        loader = torch.utils.data.DataLoader(
            data, batch_size=8, num_workers=2, pin_memory=True, multiprocessing_context=multipy.dataloader_context()
        )
        for _ in range(2):
            batches = [batch for (batch,) in loader]
            self.assertTrue(all(batch.is_pinned() for batch in batches))
            on_gpu = torch.cat([batch.cuda(non_blocking=True) for batch in batches])
            self.assertTrue(torch.equal(on_gpu.cpu(), data.tensors[0]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
