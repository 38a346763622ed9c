"""How well models rank: metrics, grids of hyper-parameters, and the choice among them."""
