"""WMF (Hu et al. 2008, Pan et al. 2008): weighted factors of users and items."""
