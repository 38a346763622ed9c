"""Pal 2020 (structured dropout): its figures, and the checks of its claims.

The mathematics is in `lindrop.dropout`: DropBlock and Theorem 2.7 in `dropblock`, the k-support
norm in `k_support`, DropConnect and characteristic matrices in `structured`, and masks in
`samplers`.
"""
