"""Mianjy 2018 (dropout in linear networks): its figures, and the checks of its claims.

The mathematics is in `lindrop.dropout`: the objective in `objective`, Algorithm 1 in `sgd`,
Algorithm 2 in `equalise`, Theorems 2.4 and 3.6 and Algorithm 3 in `optimum`, and critical points in
`landscape`.
"""
