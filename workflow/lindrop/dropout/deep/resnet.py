"""ResNet-50, whose outputs are the hidden nodes g(X) of the deep experiment of Pal 2020.

Layers and parameters have the names and shapes of the published weights. The architecture is not
adapted to small images: 28×28 pixels become 7×7 after the stem and 1×1 at the end.
"""

import torch
from torch import Tensor, nn

from lindrop.base.arrays import Matrix

EXPANSION = 4  # ratio of the outputs of a Bottleneck to its width
COLOURS = 3


class Bottleneck(nn.Module):
    """Residual block: convolutions of 1×1, 3×3 (with the stride) and 1×1, added to the input."""

    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        outputs = width * EXPANSION
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample: nn.Module = nn.Identity()
        if stride > 1 or inputs != outputs:
            projection = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.downsample = nn.Sequential(projection, nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.bn1(self.conv1(x)).relu()
        y = self.bn2(self.conv2(y)).relu()
        y = self.bn3(self.conv3(y)) + self.downsample(x)
        return y.relu()


class ResNet50(nn.Module):
    """ResNet-50, which maps images (N × 3 × height × width) to N × outputs."""

    def __init__(self, outputs: int):
        super().__init__()
        self.conv1 = nn.Conv2d(COLOURS, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = _layer(64, 64, blocks=3, stride=1)
        self.layer2 = _layer(256, 128, blocks=4, stride=2)
        self.layer3 = _layer(512, 256, blocks=6, stride=2)
        self.layer4 = _layer(1024, 512, blocks=3, stride=2)
        self.fc = nn.Linear(2048, outputs)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.maxpool(self.bn1(self.conv1(x)).relu())
        y = self.layer4(self.layer3(self.layer2(self.layer1(y))))
        y = self.fc(y.mean((2, 3)))
        return y


def _layer(inputs: int, width: int, blocks: int, stride: int) -> nn.Sequential:
    """Stage of residual blocks of one width, the first of which has the stride."""
    rest = [Bottleneck(width * EXPANSION, width, 1) for _ in range(blocks - 1)]
    return nn.Sequential(Bottleneck(inputs, width, stride), *rest)


def resnet50(outputs: int, seed: int) -> ResNet50:
    """ResNet-50 with seeded initial weights; PyTorch's global random state is left unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ResNet50(outputs)


def inputs_of(images: Matrix) -> Tensor:
    """Images as N × 3 × height × width, every colour scaled to mean 0 and variance 1 over the set.

    Grey images (N × height × width) get three equal colours, so that one architecture serves MNIST
    and CIFAR-10.
    """
    x = torch.tensor(images, dtype=torch.float32)
    if x.ndim == 3:
        x = x[:, None].expand(-1, COLOURS, -1, -1)
    deviation, mean = torch.std_mean(x, (0, 2, 3), keepdim=True)
    return (x - mean) / deviation
