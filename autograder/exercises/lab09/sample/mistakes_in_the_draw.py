"""Mistakes in the draw, the temperature 0, shapes and errors."""

from __future__ import annotations

from . import exercise
from .also_right import masked_logits, probabilities_first

wrong = exercise.edits(masked_logits)
edited = exercise.edits(probabilities_first)

wrong(
    "always_greedy",
    "torch.multinomial(p.reshape(-1, V), 1, generator=generator)",
    "p.argmax(-1)",
    "You filter, and then always take the likeliest token. How does a token come by its share of "
    "the draws?",
)
wrong(
    "uniform_over_what_stays",
    "torch.multinomial(p.reshape(-1, V), 1, generator=generator)",
    "torch.multinomial((p > 0).double().reshape(-1, V), 1, generator=generator)",
    "All tokens that stay are drawn equally often. What are their probabilities?",
)
wrong(
    "global_generator",
    "generator=generator)\n    return",
    "generator=None)\n    return",
    "You draw from torch's own generator although another one is given. Where is `generator` used?",
)
edited(
    "one_draw_for_the_whole_batch",
    "torch.rand(p.shape[:-1], generator=generator, dtype=p.dtype)",
    "torch.rand((), generator=generator, dtype=p.dtype).expand(p.shape[:-1])",
    "All rows use one random number, so equal rows get equal tokens. How many numbers do you need?",
)
edited(
    "one_draw_along_the_last_axis",
    "torch.rand(p.shape[:-1], generator=generator, dtype=p.dtype)",
    "torch.rand(p.shape[:1], generator=generator, dtype=p.dtype)"
    ".reshape(-1, *[1] * (p.ndim - 2)).expand(p.shape[:-1]) if p.ndim > 1 else "
    "torch.rand((), generator=generator, dtype=p.dtype)",
    "Rows of one batch entry use the same random number. Which axes does your random number have?",
)
wrong(
    "seeded_anew",
    "    p = scores.softmax(-1)\n    token",
    "    generator = torch.Generator().manual_seed(0)\n    p = scores.softmax(-1)\n    token",
    "Each call draws the same tokens. Where does your generator come from?",
)
wrong(
    "seeded_from_the_generator",
    "    p = scores.softmax(-1)\n    token",
    "    if generator is not None:\n"
    "        generator = torch.Generator().manual_seed(generator.initial_seed())\n"
    "    p = scores.softmax(-1)\n    token",
    "Two calls with one generator draw the same tokens. What becomes of a generator's state when "
    "you make a copy of its seed?",
)
wrong(
    "generator_needed",
    "    V = logits.shape[-1]\n",
    "    V = logits.shape[-1]\n    generator.initial_seed()\n",
    "Your code fails if no generator is given. What is the default of `generator`?",
)
wrong(
    "logits_divided_in_place",
    "scores = logits / temperature",
    "scores = logits.div_(temperature)",
    "Your function changes the logits that it was given. Which call writes in place?",
)
wrong(
    "logits_masked_in_place",
    "scores.masked_fill(scores < kth, -torch.inf)",
    "logits.masked_fill_(scores < kth, -torch.inf) / temperature",
    "`top_k` writes -inf into the logits that it was given. Which call writes in place?",
)
wrong(
    "no_greedy_case",
    "    if temperature == 0:\n        return logits.argmax(dim=-1)\n",
    "",
    "With the temperature 0 your code divides by 0. What does the task ask for then?",
)
wrong(
    "zero_as_a_small_temperature",
    "    if temperature == 0:\n        return logits.argmax(dim=-1)\n",
    "    temperature = temperature or 1.0\n",
    "With the temperature 0 your function draws as with 1. Which token should it take?",
)
wrong(
    "zero_as_a_tenth",
    "    if temperature == 0:\n        return logits.argmax(dim=-1)\n",
    "    temperature = max(temperature, 0.1)\n",
    "With the temperature 0 your function still draws at random. Which token should it take?",
)
edited(
    "greedy_of_the_wrong_axis",
    "logits.max(-1).indices",
    "logits.argmax(0)",
    "With the temperature 0 you look for the largest logit along the first axis. Along which axis "
    "are the tokens?",
)
edited(
    "greedy_probability_returned",
    "logits.max(-1).indices",
    "logits.max(-1).values",
    "With the temperature 0 you return the largest logit itself. What should be returned?",
)
edited(
    "softmax_along_the_batch",
    ".softmax(-1)",
    ".softmax(0)",
    "Your probabilities add up to 1 along the batch. Along which axis are the tokens?",
)
edited(
    "overflow",
    "(logits / temperature).softmax(-1)",
    "(logits / temperature).exp() / (logits / temperature).exp().sum(-1, keepdim=True)",
    "Exponentials of large scores overflow. Which function of lab 1 avoids this?",
)
wrong(
    "exponentials_in_float32",
    "    p = scores.softmax(-1)\n",
    "    p = scores.float().exp()\n",
    "Your exponentials are float32, and overflow from scores of 89 on. Which function of lab 1 "
    "avoids this?",
)
wrong(
    "axis_kept",
    "token.reshape(logits.shape[:-1])",
    "token.reshape(*logits.shape[:-1], 1)",
    "Your result has an axis of length 1 in the place of the tokens' axis. What is the shape in "
    "the task?",
)
wrong(
    "batches_only",
    "token.reshape(logits.shape[:-1])",
    "token.squeeze(-1)",
    "Your result has one axis, whatever the logits have. Which axes should it have?",
)
wrong(
    "small_integers",
    "token.reshape(logits.shape[:-1])",
    "token.reshape(logits.shape[:-1]).int()",
    "Your tokens are int32. Which dtype does the task ask for?",
)
edited(
    "probability_returned",
    "tokens.gather(-1, place).squeeze(-1)",
    "p.gather(-1, place).squeeze(-1)",
    "You return the probability of the drawn token. What should be returned?",
)
wrong(
    "negative_temperature_accepted",
    "if temperature < 0 or (top_k is not None and top_k < 1):",
    "if top_k is not None and top_k < 1:",
    "A negative temperature is not refused. What should happen?",
)
edited(
    "k_of_zero_accepted",
    "    if top_k is not None and top_k <= 0:",
    "    if top_k is not None and top_k < 0:",
    "`top_k=0` is not refused. How many tokens would stay?",
)
edited(
    "no_k_is_refused",
    '    if top_k is not None and top_k <= 0:\n        raise ValueError("top_k")\n',
    "    top_k = None if top_k is not None and top_k <= 0 else top_k\n",
    "A `top_k` below 1 is taken for no `top_k`. What should happen?",
)
wrong(
    "p_of_zero_accepted",
    "(top_p <= 0 or top_p > 1)",
    "(top_p < 0 or top_p > 1)",
    "`top_p=0` is not refused. What should happen?",
)
wrong(
    "p_above_one_accepted",
    "(top_p <= 0 or top_p > 1)",
    "top_p <= 0",
    "A `top_p` above 1 is not refused. What should happen?",
)
wrong(
    "p_of_one_refused",
    "(top_p <= 0 or top_p > 1)",
    "(top_p <= 0 or top_p >= 1)",
    "You refuse `top_p=1`. Which tokens does it keep?",
)
wrong.several(
    "greedy_before_the_errors",
    {
        "    if temperature == 0:\n        return logits.argmax(dim=-1)\n": "",
        "    if temperature < 0": "    if temperature == 0:\n        return logits.argmax(dim=-1)\n"
        "    if temperature < 0",
    },
    "With the temperature 0, your function does not look at `top_k` and `top_p` at all. When is an "
    "error raised, according to the task?",
)
