"""Mistakes in `generate`."""

from __future__ import annotations

from . import exercise
from .also_right import one_loop

wrong = exercise.edits(one_loop, of="generate")

wrong(
    "read_twice",
    "new = tokens if step == 0 else tokens[:, -1:]",
    "new = tokens[:, -model.cfg.context + (0 if state is None else state.length) :]",
    "Each call reads the whole text again, on top of a state that already holds it. Which tokens "
    "are new?",
)
wrong.several(
    "no_cache",
    {
        "new = tokens if step == 0 else tokens[:, -1:]": "new, state = tokens, None",
        "valid=valid if step == 0 else None": "valid=None if valid is None else torch.cat("
        "(valid, torch.ones(len(valid), step, dtype=torch.bool)), 1)",
    },
    "Your texts are right, but each call reads the whole text. What does the state hold already?",
)
wrong(
    "state_forgotten",
    "logits, state = model(new, state,",
    "logits, _ = model(new, state,",
    "From the second call on, the model reads one token and knows nothing of those before it. What "
    "did the call before return?",
)
wrong(
    "state_of_the_prompt",
    "logits, state = model(new, state, valid=valid if step == 0 else None)",
    "logits, later = model(new, state, valid=valid if step == 0 else None)\n"
    "        state = state or later",
    "Each call continues the prompt alone: your own tokens are not in the state. When must it "
    "change?",
)
wrong(
    "prompts_last_token_only",
    "new = tokens if step == 0 else tokens[:, -1:]",
    "new, valid = tokens[:, -1:], None",
    "The model reads only the last token of the prompt. What does the first call need?",
)
wrong(
    "prompts_first_logits",
    "logits[:, -1]",
    "logits[:, 0]",
    "You take the logits of the first token that a call reads. Which token's logits are about the "
    "next one?",
)
wrong(
    "valid_forgotten",
    "valid=valid if step == 0 else None",
    "valid=None",
    "A row that is filled up is continued as if the filling were text. Which argument tells the "
    "model?",
)
wrong(
    "valid_of_the_newest",
    "valid=valid if step == 0 else None",
    "valid=valid if step == 0 or valid is None else valid[:, :1]",
    "In later calls you tell the model that the new tokens of short rows are filling. About which "
    "tokens is `valid`?",
)
wrong(
    "valid_again",
    "valid=valid if step == 0 else None",
    "valid=valid",
    "In later calls you pass on the `valid` of the whole prompt. About which tokens is it?",
)
wrong(
    "eos_ignored",
    "if eos is not None:",
    "if False:",
    "Your rows go on after `eos`. What should they write then?",
)
wrong(
    "zero_is_no_eos",
    "if eos is not None:",
    "if eos:",
    "With `eos=0` no row ends: in an `if`, 0 counts as false. How do you ask for None?",
)
wrong(
    "all_end_with_the_first",
    "over |= token == eos",
    "over |= (token == eos).any()",
    "When one row ends, all of them do. Which rows have ended?",
)
wrong(
    "ended_one_step_late",
    "            token[over] = eos\n            over |= token == eos\n",
    "            now = over.clone()\n            over |= tokens[:, -1] == eos\n"
    "            token[now] = eos\n",
    "A row writes one more token after `eos`. When is it known that a row has ended?",
)
wrong(
    "eos_in_the_prompt",
    "over = torch.zeros(prompt.shape[0], dtype=torch.bool)",
    "over = torch.zeros(prompt.shape[0], dtype=torch.bool) if eos is None else "
    "(prompt == eos).any(1)",
    "A row whose prompt holds `eos` counts as ended before it has written anything. What ends a "
    "text, according to the task?",
)
wrong(
    "zeros_after_the_end",
    "token[over] = eos",
    "token[over] = 0",
    "After its end a row writes the token 0. Which token should it write?",
)
wrong(
    "shorter_when_all_have_ended",
    "        tokens = torch.cat([tokens, token.unsqueeze(1)], dim=1)\n",
    "        tokens = torch.cat([tokens, token.unsqueeze(1)], dim=1)\n"
    "        if over.all():\n            break\n",
    "If all rows have ended early, your result is too narrow. What is its shape in the task?",
)
wrong(
    "always_greedy",
    "sample(logits[:, -1], **how_to_sample)",
    "logits[:, -1].argmax(-1)",
    "You always take the likeliest token. What are `how_to_sample`'s numbers for?",
)
wrong(
    "numbers_not_passed_on",
    "sample(logits[:, -1], **how_to_sample)",
    "sample(logits[:, -1], 0 if how_to_sample.get('temperature') == 0 else 1.0, "
    "1 if how_to_sample.get('top_k') == 1 else None)",
    "The numbers in `how_to_sample` do not reach `sample`. How do you pass on a dict of arguments?",
)
wrong(
    "one_token_for_the_batch",
    "sample(logits[:, -1], **how_to_sample)",
    "sample(logits[:1, -1], **how_to_sample).repeat(len(logits))",
    "All rows write what the first one writes. Whose logits do you sample from?",
)
wrong(
    "prompt_returned_too",
    "return tokens[:, prompt.shape[1] :]",
    "return tokens",
    "Your result begins with the prompt. What does the task ask for?",
)
wrong(
    "one_token_too_few",
    "for step in range(max_new_tokens):",
    "for step in range(max_new_tokens - 1):",
    "One token is missing. How many calls does a prompt with n new tokens need?",
)
wrong(
    "one_token_too_many",
    "for step in range(max_new_tokens):",
    "for step in range(min(max_new_tokens + 1, model.cfg.context - prompt.shape[1] + 1)):",
    "There is one token too many. How many calls does a prompt with n new tokens need?",
)
wrong(
    "mode_not_set",
    "    model.eval()\n",
    "",
    "The model writes in the mode in which it came, with dropout. In which mode should it write?",
)
wrong(
    "mode_not_restored",
    "    model.train(before)\n",
    "",
    "After your function the model is in evaluation mode, whatever it was before. What should it "
    "be?",
)
wrong(
    "always_training_afterwards",
    "    model.train(before)\n",
    "    model.train()\n",
    "After your function the model is in training mode, whatever it was before. What should it be?",
)
wrong(
    "with_gradients",
    "@torch.no_grad()\n",
    "",
    "All steps are kept for gradients, which nobody asks for. Which context of torch avoids that?",
)
wrong(
    "no_limit",
    "    if prompt.size(1) + max_new_tokens > model.cfg.context:\n"
    '        raise ValueError("longer than the context")\n',
    "",
    "Your function begins to write although the text will not fit, and the model stops it. When is "
    "it known that it will not fit?",
)
wrong.several(
    "mode_lost_with_the_error",
    {
        "    if prompt.size(1) + max_new_tokens > model.cfg.context:\n"
        '        raise ValueError("longer than the context")\n'
        "    before = model.training\n"
        "    model.eval()\n": "    before = model.training\n"
        "    model.eval()\n"
        "    if prompt.size(1) + max_new_tokens > model.cfg.context:\n"
        '        raise ValueError("longer than the context")\n',
    },
    "After a text that does not fit, the model is in evaluation mode, whatever it was before. What "
    "may happen between the two changes of its mode?",
)
wrong(
    "limit_of_the_prompt",
    "if prompt.size(1) + max_new_tokens > model.cfg.context:",
    "if prompt.size(1) > model.cfg.context:",
    "You compare the prompt alone with the model's limit. What must fit into it?",
)
wrong(
    "limit_one_too_low",
    "if prompt.size(1) + max_new_tokens > model.cfg.context:",
    "if prompt.size(1) + max_new_tokens >= model.cfg.context:",
    "You refuse a text that just fits. How long may prompt and new tokens be together?",
)
wrong(
    "prompt_cut",
    '        raise ValueError("longer than the context")\n',
    "        prompt = prompt[:, -(model.cfg.context - max_new_tokens) :]\n",
    "You cut a text that is too long. What should happen instead?",
)
