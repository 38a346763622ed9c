"""Use a fitted model: recommendations for many users, similar items, reasons, a final fit."""
