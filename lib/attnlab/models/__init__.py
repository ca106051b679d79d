"""Small models that labs train or look at."""
