"""Self-play training and evaluation; runs from the checkout and is not part of the installed package."""
