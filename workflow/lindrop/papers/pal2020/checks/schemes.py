"""Pal 2020, Lemma 2.1, Sections 3 and 5.3 (E11, E16, E19): losses expected under any masks.

All masks of a small network are enumerated, so a formula has to agree up to rounding.
"""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    CHARITABLE,
    CORRECTED,
    EXTENSION,
    PRINTED,
    Check,
    Form,
    at_least,
    equal,
    relative_distance,
)
from lindrop.dropout.dropblock import fixed_objective
from lindrop.dropout.enumeration import outcomes
from lindrop.dropout.samplers import (
    Scheme,
    characteristic_of,
    dropblock,
    dropout,
    overlapping_dropblock,
    seed_keep_as_printed,
    seed_keep_of,
)
from lindrop.dropout.structured import (
    dropout_regulariser,
    dropout_regulariser_as_printed,
    gradient,
    loss,
    losses_of_nodes,
    objective,
    regulariser,
)
from lindrop.papers.pal2020.small_net import (
    KEEP,
    ROUNDING,
    Net,
    agree,
    every_mask,
    mean_loss,
    small_net,
)

NODES, BLOCK = 6, 2


def checks(seed: int) -> list[Check]:
    """Checks of Lemmas 2.1 and 3.1, Eq. 13 to 17, Algorithm 1, and E11, E16 and E19."""
    nodes, law = np.random.default_rng(seed).spawn(2)
    net = small_net(nodes, NODES)
    return [
        *_equation_3(),
        *_lemma_2_1(net),
        *_e11(net),
        *_algorithm_1(net),
        *_lemma_3_1(net, law),
        *_equations(net),
        *_corollary_3_2(net),
        *_seed_rates(),
    ]


def _schemes() -> dict[str, Scheme]:
    """Three schemes of the small network, by name."""
    return {
        "dropout": dropout(NODES, KEEP),
        "DropBlock": dropblock(NODES, KEEP, BLOCK),
        "overlapping DropBlock": overlapping_dropblock(NODES, KEEP, BLOCK),
    }


def _algorithm_1(net: Net) -> Iterator[Check]:
    """Checks of the mean step of lines 7 to 9 over all masks, summed over the samples."""
    x, y, u, v = net
    for name in ("dropout", "DropBlock"):
        scheme = _schemes()[name]
        masks, probabilities = every_mask(scheme)
        z = masks[:, None, :]
        error = (u * z) @ v.T @ x / KEEP - y
        by_u = np.tensordot(probabilities, error @ x.T @ (v * z) / KEEP, 1)
        by_v = np.tensordot(probabilities, x @ error.transpose(0, 2, 1) @ (u * z) / KEEP, 1)
        wanted = np.concatenate(gradient(y, u, v, x, scheme.characteristic)) / 2
        what = f"mean step of {name} over all masks less half the gradient of Lemma 2.1, relative"
        yield equal(
            "algorithm_1", what, relative_distance(np.concatenate((by_u, by_v)), wanted), 0, 1e-12
        )


def _lemma_3_1(net: Net, rng: np.random.Generator) -> Iterator[Check]:
    """Checks of Eq. 14 in a network with a ReLU.

    The last law is no dropout: seven masks of random numbers with random probabilities.
    """
    laws = {name: every_mask(scheme) for name, scheme in _schemes().items()}
    laws["any law of seven masks"] = rng.normal(1, 1, (7, NODES)), rng.dirichlet(np.ones(7))
    for name, (masks, probabilities) in laws.items():
        noise = masks / (probabilities @ masks)
        mean = mean_loss(net, net.features, noise, probabilities)
        characteristic = characteristic_of(masks, probabilities)
        formula = objective(net.y, net.u, net.features, characteristic)
        yield agree("lemma_3_1", f"Eq. 14, {name}", formula, mean)
        by_nodes = float(probabilities @ losses_of_nodes(net.y, net.u, net.features, noise))
        yield agree("lemma_3_1", f"losses as figures sample them, {name}", by_nodes, mean)


def _equations(net: Net) -> Iterator[Check]:
    """Checks of Eq. 13, 15 and 16."""
    scheme = _schemes()["overlapping DropBlock"]
    masks, probabilities = every_mask(scheme)
    mean = probabilities @ masks
    output = net.u @ ((probabilities @ (masks / mean))[:, None] * net.features)
    what = "mean output U diag(μ)⁻¹ diag(z) g(X) over all masks less U g(X), relative"
    yield equal("equation_13", what, relative_distance(output, net.u @ net.features), 0, ROUNDING)

    covariance = (masks - mean).T @ (probabilities[:, None] * (masks - mean))
    terms = (net.u.T @ net.u) * (net.features @ net.features.T) / mean / mean[:, None]
    double_sum = float(np.sum(covariance * terms))
    formula = regulariser(net.u, net.features, scheme.characteristic)
    yield agree("equation_15", "⟨C̄, U'U ⊙ V'V⟩ as the double sum of c_ij", formula, double_sum)

    for name in ("dropout", "DropBlock"):
        scheme = _schemes()[name]
        error = np.abs(characteristic_of(*every_mask(scheme)) - scheme.characteristic).max()
        yield equal("equation_16", f"C̄ of {name} less that of all masks", error, 0, ROUNDING)


def _corollary_3_2(net: Net) -> Iterator[Check]:
    """Checks of Eq. 17 with the factor (1 − θ)/θ, and as our copy has it, without (E16)."""
    error = float(loss(net.y, net.u, net.features))
    bare = dropout_regulariser_as_printed(net.u, net.features)
    for keep in (KEEP, 0.5, 0.8):
        masks, probabilities = every_mask(dropout(NODES, keep))
        mean = mean_loss(net, net.features, masks / keep, probabilities)
        full = dropout_regulariser(net.u, net.features, keep)
        what = f"Eq. 17 at θ = {keep:g}"
        yield agree("corollary_3_2", f"{what}, times (1 − θ)/θ", error + full, mean, CHARITABLE)
        if keep == KEEP:
            yield agree("e16", f"{what}, as in our copy", error + bare, mean)
            yield agree("e16", f"{what}, times (1 − θ)/θ", error + full, mean, CORRECTED)


def _seed_rates() -> Iterator[Check]:
    """Checks of θ′ (Section 5.3, E19): how often a node is kept that r = 5 seeds reach.

    It should be θ. By the printed rule a node is dropped if none of the 2k − 1 seeds is 1, and by
    the other one, which suits the sentence before the formula, if any of its r seeds drops it.
    """
    block, rates = 5, []
    for keep in (0.3, 0.5, 0.8):
        of = f"every mask; θ = {keep:g}"
        seeds, chances = outcomes(block, seed_keep_as_printed(keep, (block + 1) / 2))
        kept = float(chances @ seeds.any(axis=1))
        what = f"printed rule, kept if any of 2k − 1 = {block} seeds is 1: a node is kept, {of}"
        yield equal("section_5_3_rate", what, kept, keep, ROUNDING)
        seeds, chances = outcomes(block, keep)
        rates.append(float(chances @ ~seeds.any(axis=1)) / (1 - keep))
        readings: list[tuple[str, float, Form]] = [
            ("1 − θ′ by the formula for 1 − θ, 2k − 1 = r", _of_dropping(keep, block), CORRECTED),
            ("θ′ = θ^{1/r}", seed_keep_of(keep, block), EXTENSION),
        ]
        for name, harmless, form in readings:
            masks, probabilities = every_mask(overlapping_dropblock(1, harmless, block))
            kept = float(probabilities @ masks[:, 0])
            what = f"dropped if any of {block} seeds drops it, {name}: a node is kept, {of}"
            yield equal("e19", what, kept, keep, ROUNDING, form)
    what = "printed rule, seeds 1 with θ as blocks on the grid: how often a node is dropped / 1 − θ"
    yield at_least("e19", f"{what}, the largest", max(rates), 1)
    scheme = _schemes()["overlapping DropBlock"]
    error = np.abs(characteristic_of(*every_mask(scheme)) - scheme.characteristic).max()
    what = "c̄_ij = θ^{−(1 − |i − j|/r)₊} − 1 less that of all masks"
    yield equal("e19", what, error, 0, 1e-11, EXTENSION)


def _of_dropping(keep: float, block: int) -> float:
    """θ′ of keeping, if the formula of Section 5.3 is one of probabilities of dropping."""
    return 1 - seed_keep_as_printed(1 - keep, (block + 1) / 2)


def _equation_3() -> Iterator[Check]:
    """Check that diag(w) ⊗ I_r has the masks of Section 2, z_j = w_i for (i − 1)r < j ≤ ir."""
    for block in (1, BLOCK, 3):
        coins, _ = outcomes(NODES // block, KEEP)
        defined = np.array([[w[j // block] for j in range(NODES)] for w in coins])
        masks, _ = _kronecker_masks(NODES // block, block)
        what = f"diag(w) ⊗ I_r less the masks of Section 2, d = {NODES}, r = {block}"
        yield equal("equation_3", what, np.abs(masks - defined).max(), 0, 0, CHARITABLE)


def _lemma_2_1(net: Net) -> Iterator[Check]:
    """Checks of Lemma 2.1 with the masks of Section 2."""
    for block in (1, BLOCK, 3):
        what = f"Eqs. 4 and 5, d = {NODES}, r = {block}" + (", dropout" if block == 1 else "")
        formula = fixed_objective(net.y, net.x, net.u, net.v, block, KEEP)
        mean = _mean_over(net, *_kronecker_masks(NODES // block, block))
        yield agree("lemma_2_1", f"{what}, diag(w) ⊗ I_r", formula, mean, CHARITABLE)


def _kronecker_masks(coins: int, size: int) -> tuple[Matrix, Vector]:
    """Diagonals of diag(w) ⊗ I, a row for every w, and their probabilities."""
    kept, probabilities = outcomes(coins, KEEP)
    masks = np.stack([np.kron(np.diag(w), np.eye(size)).diagonal() for w in kept])
    return masks, probabilities


def _mean_over(net: Net, masks: Matrix, probabilities: Vector) -> float:
    """Mean loss over the given masks."""
    return mean_loss(net, net.hidden, masks / KEEP, probabilities)


def _e11(net: Net) -> Iterator[Check]:
    """Checks of each Kronecker product that our copy of Eq. 3 may mean (E11)."""
    nodes, blocks = net.u.shape[1], net.u.shape[1] // BLOCK
    formula = fixed_objective(net.y, net.x, net.u, net.v, BLOCK, KEEP)
    readings: list[tuple[str, int, int, Form]] = [
        ("diag(w) ⊗ I_{d/r}, w of d/r entries", blocks, blocks, PRINTED),
        ("diag(w) ⊗ I_{d/r}, w of r entries", BLOCK, blocks, PRINTED),
        ("diag(w) ⊗ I_r, w of d/r entries", blocks, BLOCK, CORRECTED),
    ]
    for what, coins, size, form in readings:
        masks, probabilities = _kronecker_masks(coins, size)
        of = f"{what}, d = {nodes}, r = {BLOCK}"
        yield equal("e11", f"rows of {of}", masks.shape[1], nodes, 0, form)
        if masks.shape[1] == nodes:
            mean = _mean_over(net, masks, probabilities)
            yield agree("e11", f"Eqs. 4 and 5 with {of}", formula, mean, form)
