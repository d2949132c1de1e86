"""Codes of encoders: sparse autoencoders on them."""
