"""Training code; the models it trains live beside it, in their own folders."""
