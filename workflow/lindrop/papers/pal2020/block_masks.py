"""Pal 2020, Lemma 2.1: the loss expected under masks of blocks, whichever Eq. 3 may mean."""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form, equal
from lindrop.dropout.dropblock import fixed_objective
from lindrop.dropout.enumeration import outcomes
from lindrop.papers.pal2020.enumeration import KEEP, Net, agree, mean_loss

BLOCK = 2


def block_mask_checks(net: Net) -> list[Check]:
    return [*_lemma_2_1(net), *_e11(net)]


def _lemma_2_1(net: Net) -> Iterator[Check]:
    """Also with the mask that Eqs. 3 and 4 print (E11)."""
    nodes = net.u.shape[1]
    for block in (1, BLOCK, 3):
        what = f"Eqs. 4 and 5, d = {nodes}, r = {block}" + (", dropout" if block == 1 else "")
        formula = fixed_objective(net.y, net.x, net.u, net.v, block, KEEP)
        masks: list[tuple[str, int, Form]] = [
            ("diag(w) ⊗ I_{d/r}, w of r entries", nodes // block, PRINTED),
            ("diag(w) ⊗ I_r, w of d/r entries", block, CORRECTED),
        ]
        for mask, size, form in masks:
            mean = _mean_over(net, *_kronecker_masks(nodes // size, size))
            yield agree("lemma_2_1", f"{what}, {mask}", formula, mean, form)


def _kronecker_masks(coins: int, size: int) -> tuple[Matrix, Vector]:
    """The diagonal of diag(w) ⊗ I in full, a row for every w, and how probable it is."""
    kept, probabilities = outcomes(coins, KEEP)
    masks = np.stack([np.kron(np.diag(w), np.eye(size)).diagonal() for w in kept])
    return masks, probabilities


def _mean_over(net: Net, masks: Matrix, probabilities: Vector) -> float:
    return mean_loss(net, net.hidden, masks / KEEP, probabilities)


def _e11(net: Net) -> Iterator[Check]:
    """Each Kronecker product that Eq. 3 may mean."""
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
