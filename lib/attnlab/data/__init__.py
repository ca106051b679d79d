"""The labs' data, one file each. Nothing here needs a network."""
