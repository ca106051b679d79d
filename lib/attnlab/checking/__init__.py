"""How an answer is told right from wrong: the parts that students' and graders' machines share.

A *check* is a probe: a function ``check(lab, draw)`` that asks the lab's code something and
returns what it saw. Nothing in it says what is right. What is right is an observation, too: the
same probe, run on the reference.

====================  ===========================================================
:mod:`.draw`          makes a probe's inputs from a seed
:mod:`.lab`           the names a probe may ask for, and what running a probe saw
:mod:`.observation`   what a probe saw, as bytes and back, without pickle
:mod:`.judges`        is one observation as good as another, and if not, where
:mod:`.advice`        a difference in words: looked at, seen, where to look next
:mod:`.verdict`       checks, their points and their advice, put together
:mod:`.visible`       the file of visible checks that ships with a notebook
:mod:`.find`          which such file holds an exercise
:mod:`.trial`         runs an exercise's visible checks here and now
:mod:`.render`        a verdict's face, with :mod:`.picture` where tensors differ
====================  ===========================================================
"""
