"""A course with a late rule and an extension, as course.toml says it."""

COURSE = """
[course]
name = "A course"

[late]
grace_minutes = 30
percent_per_day = 10
last_day = 5

[[lab]]
id = "lab01"
title = "Softmax"
release = 2026-09-14T08:00:00
due = 2026-09-20T21:59:00

[[extension]]
student = "bob"
lab = "lab01"
due = 2026-09-22T21:59:00
"""
