"""One short file for each library: how it takes the game. They run from the checkout."""
