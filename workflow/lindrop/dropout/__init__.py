"""Dropout in linear networks of one hidden layer: what it minimises, how training gets there."""
