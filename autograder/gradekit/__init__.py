"""The staff's half of Attention Labs: build, release, collect, grade, review, report."""
