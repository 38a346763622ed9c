"""Read, download or generate interactions, and split them into training and held-out users."""
