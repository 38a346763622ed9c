"""Helpers that every other part of the library uses: errors, files, memory, threads, logs."""
