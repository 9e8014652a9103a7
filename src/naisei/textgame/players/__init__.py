"""Player kinds without a package of their own."""
