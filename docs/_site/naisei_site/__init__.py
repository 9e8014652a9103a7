"""What the documentation's two builds (English, Japanese) share."""
