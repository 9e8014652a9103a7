"""Encoders: pretrained networks that read subwords, and the words-to-subwords side of them."""
