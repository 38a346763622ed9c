"""Pretorius 2018 (linear denoising autoencoders): its figures, and the checks of its claims.

The mathematics is in `lindrop.dropout.dynamics`: one mode in `modes`, its trajectories in
`trajectories`, and the optimal learning rates (supplement, Section D) in `rates`.
"""
