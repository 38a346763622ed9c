"""Where interactions come from and how they are split."""
