"""Wrong trainings and wrong measurements, most of them one edit of a right version."""

from __future__ import annotations

from . import exercise
from .also_right import counted, step_by_step

wrong = exercise.edits(step_by_step, of="fine_tune")

wrong(
    "only_the_head",
    "classifier.parameters()",
    "classifier.head.parameters()",
    "The optimizer has the weights of the head alone, so all others stay as they are. Which "
    "weights does the task want to train?",
)
wrong(
    "everything_but_the_head",
    "classifier.parameters()",
    "classifier.bert.parameters()",
    "The head does not learn: the optimizer does not have its weights. Which weights does the task "
    "want to train?",
)
wrong(
    "a_rate_of_its_own",
    "lr=lr)",
    "lr=1e-2)",
    "The learning rate is always the same, whatever `lr` says. Where is the argument used?",
)
wrong(
    "rate_not_passed_on",
    "lr=lr)",
    "lr=1e-3)",
    "Your optimizer has always the same rate, whatever the caller says. Which argument does not "
    "reach it?",
)
wrong(
    "clipped_too",
    "        optimizer.step()\n",
    "        torch.nn.utils.clip_grad_norm_(classifier.parameters(), 1.0)\n"
    "        optimizer.step()\n",
    "You clip the gradients, so the updates are not Adam's. Which steps does the task name?",
)
wrong(
    "cleared_too_late",
    "        optimizer.zero_grad()\n        loss = F.cross_entropy(classifier(ids), labels)\n"
    "        loss.backward()\n        optimizer.step()\n",
    "        loss = F.cross_entropy(classifier(ids), labels)\n"
    "        loss.backward()\n        optimizer.step()\n        optimizer.zero_grad()\n",
    "Gradients that were there before your first step are in it. From what does each step's "
    "gradient start?",
)
wrong(
    "ten_times_the_rate",
    "steps=60, lr=1e-3",
    "steps=60, lr=1e-2",
    "Without an argument, your updates are too large: a pretrained model forgets what it knows "
    "within a few of them. Which learning rate is the default?",
)
wrong(
    "a_rate_that_hardly_moves",
    "steps=60, lr=1e-3",
    "steps=60, lr=1e-5",
    "Without an argument, your updates are so small that nothing is learned in 60 steps. Which "
    "learning rate is the default?",
)
wrong(
    "gradient_descent",
    "torch.optim.Adam(",
    "torch.optim.SGD(",
    "You train with plain gradient descent. Which optimizer does the task name?",
)
wrong(
    "decay_too",
    "torch.optim.Adam(classifier.parameters(), lr=lr)",
    "torch.optim.AdamW(classifier.parameters(), lr=lr)",
    "Your optimizer pulls all weights towards 0 as well: `AdamW` has weight decay by default. "
    "Which optimizer does the task name?",
)
wrong(
    "new_optimizer_each_step",
    "        optimizer.zero_grad()\n",
    "        optimizer = torch.optim.Adam(classifier.parameters(), lr=lr)\n"
    "        optimizer.zero_grad()\n",
    "A new optimizer is made in each step, so its averages are forgotten each time. How many "
    "optimizers does a training need?",
)
wrong(
    "no_zero_grad",
    "        optimizer.zero_grad()\n",
    "",
    "The gradients of all steps add up, because they are never reset. Which call belongs before "
    "every backward()?",
)
wrong(
    "no_step",
    "        optimizer.step()\n",
    "",
    "The weights do not change: the optimizer never takes a step. What are the gradients for?",
)
wrong(
    "one_sentence_at_a_time",
    "    for _ in range(steps):\n        optimizer.zero_grad()\n"
    "        loss = F.cross_entropy(classifier(ids), labels)\n",
    "    for step in range(steps):\n        optimizer.zero_grad()\n        row = step % len(ids)\n"
    "        loss = F.cross_entropy(classifier(ids[row : row + 1]), labels[row : row + 1])\n",
    "Each step uses one sentence. How many does the task use at once?",
)
wrong(
    "summed",
    "classifier(ids), labels)",
    'classifier(ids), labels, reduction="sum")',
    "Your loss is a sum over the sentences. What does the task minimise?",
)
wrong(
    "trained_without_dropout",
    "    classifier.train()\n",
    "    classifier.eval()\n",
    "The classifier is in evaluation mode while it learns, so dropout is off. Which call changes "
    "the mode?",
)
wrong(
    "mode_as_it_was",
    "    classifier.train()\n",
    "",
    "The classifier learns in the mode that it had before. If its accuracy was measured just "
    "before, which mode is that?",
)
wrong(
    "left_in_training_mode",
    "    classifier.eval()\n",
    "",
    "The classifier is still in training mode when your function returns. Which call ends the "
    "training?",
)
wrong(
    "one_step_too_few",
    "range(steps)",
    "range(steps - 1)",
    "You make one step less than asked for. How many numbers has `range(n)`?",
)
wrong(
    "always_sixty",
    "range(steps)",
    "range(60)",
    "You always make 60 steps, whatever `steps` says. Where is the argument used?",
)
wrong(
    "loss_after_the_step",
    "losses.append(loss.item())",
    "losses.append(F.cross_entropy(classifier(ids), labels).item())",
    "Your losses are measured after the update, in a second call. Which loss did backward() start "
    "from?",
)
wrong(
    "tensors_returned",
    "loss.item()",
    "loss",
    "Your list holds tensors with their graphs. Which method gives the plain number?",
)
wrong(
    "last_loss_only",
    "return losses",
    "return losses[-1:]",
    "You return the last loss alone. How many does the task return?",
)
wrong(
    "returns_inside_the_loop",
    "    classifier.eval()\n    return losses",
    "        classifier.eval()\n        return losses",
    "Your function returns after its first step. Is a `return` indented once too often?",
)
wrong(
    "clipped",
    "        optimizer.step()",
    "        torch.nn.utils.clip_grad_norm_(classifier.parameters(), 0.1)\n"
    "        optimizer.step()",
    "You clip the gradients, and they are short enough for Adam to take other steps. Does the task "
    "ask for it?",
)

measured = exercise.edits(counted, of="accuracy")

measured(
    "with_dropout",
    "    classifier.eval()\n",
    "",
    "A classifier that comes in training mode is measured with dropout, so the share changes from "
    "call to call. Which mode is for measuring?",
)
measured(
    "left_in_evaluation_mode",
    "    classifier.train(mode)\n",
    "",
    "The classifier is in evaluation mode afterwards, whatever it was before. What must you "
    "remember?",
)
measured(
    "always_back_to_training",
    "classifier.train(mode)",
    "classifier.train()",
    "The classifier is in training mode afterwards, even if it was not before. What must you "
    "remember?",
)
measured(
    "with_gradients",
    "with torch.no_grad():",
    "with torch.enable_grad():",
    "Gradients are computed while you measure, and nothing uses them. Which context turns them "
    "off?",
)
measured(
    "over_the_rows",
    "logits.argmax(1)",
    "logits.argmax(0)[labels]",
    "Your argmax runs over the sentences and not over the classes. Which axis holds the classes?",
)
measured(
    "smallest_logit",
    "logits.argmax(1)",
    "logits.argmin(1)",
    "You take the class with the smallest logit. Which one is the classifier's answer?",
)
measured(
    "number_of_right_ones",
    "right / len(labels)",
    "right",
    "You return how many sentences are right. From which number to which does the share run?",
)
measured(
    "percent",
    "right / len(labels)",
    "100 * right / len(labels)",
    "Your share is in per cent. From which number to which does it run in the task?",
)
measured(
    "share_of_wrong_ones",
    "== labels",
    "!= labels",
    "You count the sentences that the classifier gets wrong. Which ones does the task count?",
)
measured(
    "a_tensor",
    ".sum().item()",
    ".sum()",
    "You return a tensor. Which method gives the plain number?",
)
