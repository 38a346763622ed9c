"""Which claims of the papers hold: claims are data (config/claims), verdicts are computed."""
