"""Attention Labs: what staff run. Build, release, collect, grade, review, report."""
