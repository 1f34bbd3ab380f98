"""The models of examples/models in PyTorch, with the names of their weights, and what they learn from.

Weights, images and characters come from hashes; hashed.h has the same.
"""
import torch
import torch.nn.functional as F
from torch import nn

from values import input_values


def hash_of(name):
    """FNV-1a, 32 bits."""
    bits = 0x811C9DC5
    for byte in name.encode():
        bits = (bits ^ byte) * 0x01000193 & 0xFFFFFFFF
    return bits


def initialised(model):
    """Matrices and kernels uniform within 1 / sqrt(inputs), what scales 1, what is added 0.

    Residual blocks end with less: where they add as much as there is, rounding errors grow in each.
    """
    for name, tensor in model.named_parameters():
        if tensor.ndim == 1:
            scale = 0.2 if name.endswith("bn3.weight") else 1
            nn.init.constant_(tensor, scale if name.endswith("weight") else 0)
            continue
        inputs = tensor[0].numel()
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(input_values(tensor.shape, hash_of(name))) / inputs**0.5)
    return model


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(-2, -3)
                   for part in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(-2, -3).flatten(-2))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """examples/models/gpt.h."""

    def __init__(self, words, layers, width, heads, context):
        super().__init__()
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.token(tokens) + self.place.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.token.weight)

    def loss(self, tokens, targets):
        return F.cross_entropy(self(tokens).flatten(0, 1), targets.flatten())


def characters(words, step, batch, length):
    """Each character is one of two that the one before allows: a hash decides."""
    bits = input_values((batch, length), 1000 + step) > 0
    first = [[hash_of(f"{step} {row}") % words] for row in range(batch)]
    text = torch.tensor(first)
    for place in range(1, length):
        text = torch.cat([text, (3 * text[:, -1:] + 1 + torch.from_numpy(bits[:, place:place + 1]))
                          % words], 1)
    return text


def convolution(inputs, out, kernel, stride=1):
    return nn.Conv2d(inputs, out, kernel, stride, kernel // 2, bias=False)


def shortcut(inputs, out, stride):
    if inputs == out and stride == 1:
        return None
    return nn.Sequential(convolution(inputs, out, 1, stride), nn.BatchNorm2d(out))


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = convolution(inputs, width, 3, stride), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = convolution(width, width, 3), nn.BatchNorm2d(width)
        self.downsample = shortcut(inputs, width, stride)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = convolution(inputs, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = convolution(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = convolution(width, 4 * width, 1), nn.BatchNorm2d(4 * width)
        self.downsample = shortcut(inputs, 4 * width, stride)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(y)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """examples/models/resnet.h."""

    def __init__(self, block, counts, classes=1000, is_small=False):
        super().__init__()
        self.is_small = is_small
        self.conv1 = convolution(3, 64, 3) if is_small else convolution(3, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(64)
        inputs = 64
        for number, count in enumerate(counts):
            blocks, width = [], 64 << number
            for place in range(count):
                blocks.append(block(inputs, width, 2 if place == 0 < number else 1))
                inputs = width * block.expansion
            setattr(self, f"layer{number + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        if not self.is_small:
            x = F.max_pool2d(x, 3, 2, 1)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return self.fc(x.mean((2, 3)))

    def loss(self, images, classes):
        return F.cross_entropy(self(images), classes)


def resnet50():
    return ResNet(Bottleneck, [3, 4, 6, 3])


def small_resnet18():
    return ResNet(BasicBlock, [2, 2, 2, 2], classes=10, is_small=True)


class ConvBlock(nn.Module):
    def __init__(self, inputs, out):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(inputs, out, 3, padding=1), nn.BatchNorm2d(out)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class Mnist(nn.Module):
    """examples/models/mnist.h."""

    def __init__(self):
        super().__init__()
        self.block1, self.block2, self.block3 = ConvBlock(1, 32), ConvBlock(32, 64), ConvBlock(64, 128)
        self.hidden, self.out = nn.Linear(128 * 7 * 7, 256), nn.Linear(256, 10)

    def forward(self, images):
        half = F.max_pool2d(self.block1(images / 255), 2)
        quarter = F.max_pool2d(self.block2(half), 2)
        return self.out(F.relu(self.hidden(self.block3(quarter).flatten(1))))

    def loss(self, images, classes):
        return F.cross_entropy(self(images), classes)


def images(batch, channels, size):
    return torch.from_numpy(input_values((batch, channels, size, size), 1000))


def classes(batch, count):
    return torch.tensor([hash_of(f"{row}") % count for row in range(batch)])
