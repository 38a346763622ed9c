"""WMF (Hu et al. 2008, Pan et al. 2008), weighted matrix factorisation."""
