"""A folder for each package, attacks, labs, a browser, and helpers that they share."""
