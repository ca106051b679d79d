"""Asks a lab's code and judges what it answers: the part that students and graders share.

A *check* is a probe: a function ``check(lab, draw)`` that calls the lab's code and returns an
observation, plain values such as tensors and numbers. The check does not contain the right answer.
The right answer is an observation, too: the same probe, run on the reference. A *judge* compares
the two.

The package imports nothing else of attnlab and contains no reference code. The sandbox has none of
`visible`, `lookup` and `run_visible`, so a module that is imported there imports these only where
it uses them. Its tests are in ``tests/attnlab/checking``, one file per module, unless a docstring
names another file.

===========================  =======================================================================
:mod:`.draw`                 the inputs of a probe, made from a seed
:mod:`.sizes`                the sizes at which a tensor question is asked
:mod:`.lab`                  the names that a probe may ask for; runs a probe
:mod:`.definitions`          what a notebook's names meant for a step
:mod:`.observation`          what a probe returned, as bytes and back, without pickle
:mod:`.raised`               what an observation keeps of an exception
:mod:`.judges`               compare two observations; return the first difference
:mod:`.judge_json`           judges as JSON, for the file of visible checks
:mod:`.shares`               whether random draws could come from one distribution
:mod:`.changed_lines`        how many lines of a definition were changed, and its judge
:mod:`.advice`               a difference in words
:mod:`.advice_on_errors`     an exception in words
:mod:`.relations`            how wrong numbers follow from the right ones, in words
:mod:`.agreement`            whether an observation is that of a known mistake
:mod:`.recognition`          which known mistake explains a student's answers
:mod:`.redact`               removes what advice on hidden checks must not repeat
:mod:`.verdict`              checks, points and advice of one exercise, put together
:mod:`.visible`              the file of visible checks that ships with a notebook
:mod:`.lookup`               finds the file that holds an exercise
:mod:`.run_visible`          runs an exercise's visible checks in this process
:mod:`.progress`             which steps are written, and on which unfinished ones a step runs
:mod:`.render`               a verdict as text and HTML
:mod:`.overview`             all steps of a lab in one table
:mod:`.html`                 pieces of that HTML
:mod:`.picture`              a picture of two tensors that differ
:mod:`.answers`              reads predictions and errata, whatever types they have
:mod:`.weights`              gives weights to a student's module, reads its gradients
:mod:`.layer_weights`        the weights of a student's encoder or decoder layer, and torch's layers
:mod:`.row_orders`           how a student's layer cuts one matrix into queries, keys and values
:mod:`.task_names`           the names in a task for the weights of a student's model
:mod:`.transformer_weights`  those of an encoder-decoder
:mod:`.stack_weights`        those of a GPT, a BERT, and a classifier
:mod:`.dtypes`               runs code under another default dtype of torch
:mod:`.torch_attention`      torch's multi-head attention with a student's weights
:mod:`.peak_memory`          the size of the largest tensor that a computation makes
:mod:`.errors`               errors that students can fix, and those that end a probe
===========================  =======================================================================
"""
