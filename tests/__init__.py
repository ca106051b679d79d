"""The tests: a folder for each package, attacks, labs, a browser, and what they share in helpers."""
