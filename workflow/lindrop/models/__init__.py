"""Linear autoencoders: one module per family, and a catalogue of all."""
