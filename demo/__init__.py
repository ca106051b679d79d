"""A class of students, each with a hand-in and the points it should earn; and `make demo`."""
