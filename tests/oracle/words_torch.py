"""Encoder, plain words and vision transformer, by PyTorch's own modules.

Weights are ours, put where each module has its own.
"""

from typing import Any

import torch
from torch import nn


def _joined(weights: Any, layer: int) -> dict[str, torch.Tensor]:
    """Our heads' weights of attention as `nn.MultiheadAttention` keeps them."""
    scores, values = weights["scores"], weights["values"]
    of = {"Q": scores, "K": scores, "V": values}
    embed = values["W_O"].shape[2]
    return {
        "in_proj_weight": torch.cat(
            [w[f"W_{n}"][layer].reshape(-1, embed) for n, w in of.items()]
        ),
        "in_proj_bias": torch.cat(
            [w[f"b_{n}"][layer].reshape(-1) for n, w in of.items()]
        ),
        "out_proj.weight": torch.cat(list(values["W_O"][layer]), dim=1),
        "out_proj.bias": values["b_O"][layer],
    }


def encoder_output(network: Any, weights: Any, tokens: torch.Tensor) -> torch.Tensor:
    """`nn.TransformerEncoderLayer`s under sinusoids, as in the tutorial."""
    own = weights["values"]
    layer = nn.TransformerEncoderLayer(
        network.embed, network.heads, network.hidden, 0.0, batch_first=True
    ).double()
    mask = nn.Transformer.generate_square_subsequent_mask(
        network.length, dtype=torch.float64
    )
    state = own["words"][tokens] * network.embed**0.5 + _places(network)
    for k in range(network.layers):
        given = {f"self_attn.{n}": w for n, w in _joined(weights, k).items()}
        for number in (1, 2):
            given |= {
                f"linear{number}.weight": own[f"W_{number}"][k],
                f"linear{number}.bias": own[f"b_{number}"][k],
                f"norm{number}.weight": own[f"gain_{number}"][k],
                f"norm{number}.bias": own[f"shift_{number}"][k],
            }
        state = torch.func.functional_call(
            layer, given, (state,), {"src_mask": mask, "is_causal": True}
        )
    return state @ own["decoder"].T + own["decoder_bias"]


def _places(network: Any) -> torch.Tensor:
    place = torch.arange(network.length, dtype=torch.float64)[:, None]
    table = torch.zeros(network.length, network.embed, dtype=torch.float64)
    for pair in range(0, network.embed, 2):
        angle = place[:, 0] / 10_000 ** (pair / network.embed)
        table[:, pair], table[:, pair + 1] = torch.sin(angle), torch.cos(angle)
    return table


def plain_output(network: Any, weights: Any, tokens: torch.Tensor) -> torch.Tensor:
    """One query after the other, each with the words before it."""
    own, scores = weights["values"], weights["scores"]
    state = own["words"][tokens]
    for layer in range(network.layers):
        turned = scores["W_Q"][layer].T @ scores["W_K"][layer] / network.embed**0.5
        read = []
        for place in range(network.length):
            before = state[:, :place] if place else state[:, :1]
            score = torch.einsum("nd,de,nke->nk", state[:, place], turned, before)
            paid = torch.softmax(score, dim=-1)
            read.append((paid[:, None] @ before)[:, 0])
        normed = nn.functional.normalize(torch.stack(read, dim=1), dim=-1)
        state = normed @ own["W_V"][layer].T
    return state @ own["words"].T


def vision_output(network: Any, weights: Any, tokens: torch.Tensor) -> torch.Tensor:
    """`nn.MultiheadAttention` on normed patches, added to them."""
    own = weights["values"]
    module = nn.MultiheadAttention(
        network.width, network.heads, batch_first=True, dtype=torch.float64
    )
    state = tokens @ own["patch"].T + own["patch_bias"] + own["place"]
    for k in range(network.layers):
        seen = nn.functional.layer_norm(
            state, (network.width,), own["gain"][k], own["shift"][k]
        )
        added, _ = torch.func.functional_call(
            module, _joined(weights, k), (seen, seen, seen)
        )
        state = state + added
    neurons = torch.relu(state.mean(dim=1) @ own["W_1"].T + own["b_1"])
    return neurons @ own["W_2"].T + own["b_2"]


def cross_entropy(output: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(
        output.reshape(-1, output.shape[-1]), label.reshape(-1)
    )
