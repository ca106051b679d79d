"""What runs in the student's notebook: `check`, `submit`, saved weights, reviews of answers."""
