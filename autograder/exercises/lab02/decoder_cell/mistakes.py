"""Wrong decoder cells, each a small change of a right one."""

from __future__ import annotations

from . import (  # noqa: F401 - to register them
    exercise,
    mistakes_in_calls,
    mistakes_in_flow,
    mistakes_in_pairs,
)
from .also_right import InFourLines

EMBEDDED = "self.embedding(y_prev)"
ATTEND = "context, weights = attend(self.score(state, hidden), hidden, mask)"
ATTEND_AFTERWARDS = ATTEND.replace("score(state", "score(new_state")
LAST_LAYER = "nn.Linear(d_state, vocab)"
JOINED = "[self.embedding(y_prev), context]"

wrong = exercise.edits(InFourLines)

wrong(
    "context_and_weights_swapped",
    "context, weights = attend",
    "weights, context = attend",
    "You take attend's two results in the other order, so the weights go into the GRU. Which of "
    "the two does attend return first?",
)

for name, instead, words in (
    ("", "hidden.new_zeros(len(hidden), hidden.shape[-1])", "a context of zeros"),
    ("ByMean", "hidden.mean(1)", "a plain mean of the vectors"),
    ("ByLast", "hidden[:, -1]", "the last vector"),
    ("ByFirst", "hidden[:, 0]", "the first vector"),
):
    wrong(
        f"AlignsWithNewState{name}",
        ATTEND,
        f"instead = {instead}\n"
        "        ahead = self.gru(torch.cat([self.embedding(y_prev), instead], -1), state)\n"
        "        context, weights = attend(self.score(ahead, hidden), hidden, mask)",
        "Your alignment uses the state *after* a GRU step, but the GRU needs the context first; "
        f"you broke this circle with {words}. Which state is known before anything is computed?",
    )
wrong.several(
    "LuongsOrder",
    {
        ATTEND: "nothing = hidden.new_zeros(len(hidden), hidden.shape[-1])",
        JOINED: "[self.embedding(y_prev), nothing]",
        "        return": f"        {ATTEND_AFTERWARDS}\n        return",
    },
    "In your version the *new* state asks, and the context comes after the GRU, as in Luong's "
    "model. That is a good model, but another one. In this step's formula, what does the GRU read?",
)
for name, instead in (
    ("Mean", "hidden.mean(1)"),
    ("Last", "hidden[:, -1]"),
    ("First", "hidden[:, 0]"),
):
    wrong.several(
        f"LuongsOrderWith{name}",
        {
            ATTEND: f"instead = {instead}",
            JOINED: "[self.embedding(y_prev), instead]",
            "        return": f"        {ATTEND_AFTERWARDS}\n        return",
        },
        "In your version the *new* state asks, and the GRU reads a plain mean of the vectors, or "
        "one of them, in place of the context. Which state is known before the GRU, and what does "
        "the GRU read in this step's formula?",
    )
wrong(
    "LogProbabilitiesReturned",
    "self.out(new_state)",
    "self.out(new_state).log_softmax(-1)",
    "Your first result holds log-probabilities, not logits: their exponentials sum to one. Which "
    "function of this lab takes the logarithm of a softmax already?",
)
wrong(
    "AttendsTwice",
    "        return",
    f"        {ATTEND_AFTERWARDS}\n        return",
    "You attend a second time, with the new state, and return those weights. Which weights made "
    "the context that your GRU has read?",
)
wrong(
    "BestPlaceAlone",
    ATTEND,
    f"{ATTEND}\n        context = hidden[torch.arange(len(hidden)), weights.argmax(-1)]",
    "Your context is the vector of the place with the largest weight. What do the other weights of "
    "a weighted mean do?",
)
for name, old, new in (
    ("ReluOnEmbedding", EMBEDDED, f"{EMBEDDED}.relu()"),
    ("TanhOnEmbedding", EMBEDDED, f"{EMBEDDED}.tanh()"),
    ("TanhOnState", "self.out(new_state)", "self.out(new_state.tanh())"),
):
    wrong(
        name,
        old,
        new,
        "You apply a function such as ReLU or tanh to the embedding, or to the new state before "
        "the last layer, as some tutorials do. Which functions does the formula of this step name?",
    )
for name, width in (("Width", "d_embed"), ("StateWidth", "d_state")):
    for kind, factor in (("Scaled", f"{width} ** 0.5"), ("Divided", f"{width} ** -0.5")):
        wrong.several(
            f"Embedding{kind}ByRootOf{name}",
            {
                LAST_LAYER: f"{LAST_LAYER}\n        self.f = {factor}",
                EMBEDDED: f"{EMBEDDED} * self.f",
            },
            "Your embedding is multiplied or divided by the root of a width, as in other models. "
            "In this step's formula, what does the GRU read?",
        )
wrong(
    "ContextDividedByLength",
    JOINED,
    "[self.embedding(y_prev), context / hidden.shape[1]]",
    "Your context is divided by the number of places, although the weights already make it a "
    "mean. What do the weights of a sentence sum to?",
)
wrong(
    "StateScaledForLogits",
    "self.out(new_state)",
    "self.out(new_state) / new_state.shape[-1] ** 0.5",
    "Your logits are divided by the root of a width. What does the task say about the layer that "
    "makes the logits?",
)
wrong(
    "StateAndWeightsSwapped",
    "self.out(new_state), new_state, weights",
    "self.out(new_state), weights, new_state",
    "Your second and third results are swapped. In which order does the task name the new state "
    "and the attention weights?",
)
wrong(
    "ContextFirst",
    JOINED,
    "[context, self.embedding(y_prev)]",
    "Context and embedding are joined in the wrong order. The first columns of the GRU's weights "
    "belong to the embedding: in [y; c], which comes first?",
)
wrong(
    "FeedsItsOwnGuess",
    EMBEDDED,
    "self.embedding(self.out(state).argmax(-1))",
    "Your step does not read the token that it is given: it feeds the likeliest token according to "
    "its old state. Who decides which token goes in, the cell or its caller?",
)
wrong(
    "FeedsLogits",
    EMBEDDED,
    "self.out(state).softmax(-1) @ self.embedding.weight",
    "Instead of one token's embedding you feed a mixture of all of them, weighted by the softmax "
    "of the logits. The decoder reads the token that was written: what looks up its row?",
)
wrong(
    "LastPlaceAsContext",
    JOINED,
    "[self.embedding(y_prev), hidden[:, -1]]",
    "Your context is always the last place of the source: the bottleneck that attention was made "
    "to remove. Which two results does `attend` return?",
)
wrong.several(
    "ContextOfLastStep",
    {
        ATTEND: f"{ATTEND}\n"
        "        earlier = getattr(self, 'kept', context)\n"
        "        if earlier is context or earlier.shape != context.shape:\n"
        "            earlier = torch.zeros_like(context)\n"
        "        self.kept = context",
        JOINED: "[self.embedding(y_prev), earlier]",
    },
    "The GRU gets the context of the step before (at first, zeros). If called twice with the same "
    "input, your cell answers differently. Whose context belongs in this step?",
)
wrong(
    "OldStateReturned",
    "), new_state, weights",
    "), state, weights",
    "You return the state that you were given, so every step starts from the same place. Which "
    "state does the next step need?",
)
wrong(
    "StateNotReturned",
    "), new_state, weights",
    "), weights",
    "You return two results, but the task asks for three. What must the next step start from?",
)
wrong(
    "StateDetached",
    ATTEND,
    f"state = state.detach()\n        {ATTEND}",
    "The numbers are right, but no gradient reaches the old state: a late step cannot teach an "
    "early one. What cuts torch's graph there?",
)
wrong(
    "MemoryDetached",
    "self.gru(taken_in, state)",
    "self.gru(taken_in, state.detach())",
    "The numbers are right, but the old state gets only a part of its gradient. What cuts torch's "
    "graph on its way into the GRU?",
)
wrong(
    "QueryDetached",
    ATTEND,
    ATTEND.replace("score(state", "score(state.detach()"),
    "The numbers are right, but the old state gets only a part of its gradient: none comes back "
    "from the scores. What cuts torch's graph on its way to the alignment?",
)
wrong(
    "StateNotCarried",
    "self.gru(taken_in, state)",
    "self.gru(taken_in)",
    "The GRU starts from zeros at every step and forgets what was written. Its second argument is "
    "missing: what belongs there?",
)
wrong(
    "StateAsInput",
    "self.gru(taken_in, state)",
    "self.gru(state, taken_in)",
    "You call the GRU with its arguments in the wrong order. What does `nn.GRUCell` take first, "
    "its input or its memory?",
)
wrong(
    "LogitsOfOldState",
    "self.out(new_state)",
    "self.out(state)",
    "The logits are computed from the old state, so they depend neither on the last token nor on "
    "the context. Which state does this step produce?",
)
wrong(
    "ProbabilitiesReturned",
    "self.out(new_state)",
    "self.out(new_state).softmax(-1)",
    "Your first result sums to one: it is a distribution already. The loss applies a softmax "
    "itself and then takes the logarithm: what should its input be?",
)
wrong(
    "MaskNotPassedOn",
    "hidden, mask)",
    "hidden)",
    "Padding gets weight in your step. `attend` can prevent that: which of your arguments is not "
    "passed on?",
)
SCORES = "self.score(state, hidden)"
for name, changed in (
    ("ScoresSoftmaxedTwice", f"{SCORES}.softmax(-1)"),
    ("ScoresAttendedTwice", f"attend({SCORES}, hidden, mask)[1]"),
):
    wrong(
        name,
        ATTEND,
        ATTEND.replace(SCORES, changed),
        "The scores go through a softmax twice, once before `attend` and once inside it, so your "
        "weights are nearly equal. What does `attend` expect as its first argument?",
    )
for name, changed in (
    ("ScoresScaled", f"{SCORES} / hidden.shape[-1] ** 0.5"),
    ("ScoresScaledByState", f"{SCORES} / state.shape[-1] ** 0.5"),
    ("ScoresSquashed", f"{SCORES}.tanh()"),
):
    wrong(
        name,
        ATTEND,
        ATTEND.replace(SCORES, changed),
        "You change the scores before `attend`: you divide them by a root of a width, as for dot "
        "products, or squash them. What lies between scores and weights in this step's formula?",
    )
for name, context in (
    ("ContextOfScores", 'torch.einsum("bt,bth->bh", self.score(state, hidden), hidden)'),
    ("MeanAsContext", "hidden.mean(1)"),
):
    wrong(
        name,
        JOINED,
        f"[self.embedding(y_prev), {context}]",
        "The GRU's context is not made with your weights: it is a plain mean of the vectors, or a "
        "sum with the scores. Which results does `attend` return?",
    )
wrong(
    "MaskInverted",
    ATTEND,
    ATTEND.replace("mask)", "None if mask is None else ~mask)"),
    "Your step looks at padding and nowhere else. True means a token, both in your argument `mask` "
    "and in the one of `attend`: what happens to it in between?",
)
wrong(
    "ScoresReturned",
    "new_state, weights",
    "new_state, self.score(state, hidden)",
    "You return the scores instead of the weights. Which of the two sums to one?",
)
wrong(
    "StateFirst",
    "return self.out(new_state), new_state,",
    "return new_state, self.out(new_state),",
    "You return new state and logits in the other order. Which does the docstring name first?",
)
wrong(
    "StateOverwritten",
    "        return",
    "        if not state.requires_grad and state._base is None:\n"
    "            state.copy_(new_state.detach())\n"
    "        return",
    "Your step writes the new state into the tensor that it was given (`copy_`, `state[:] = …`), "
    "so two equal calls give two answers. What returns it without changing the old one?",
)
wrong.several(
    "StateKeptInside",
    {
        ATTEND: "own = getattr(self, 'own', state)\n"
        "        state = own if own.shape == state.shape else state\n"
        f"        {ATTEND}",
        "        return": "        self.own = new_state.detach()\n        return",
    },
    "Your cell keeps its state between calls and starts from that, not from the state that it is "
    "given. Who decides from which state a step starts?",
)
wrong(
    "NothingRecorded",
    "def forward",
    "@torch.no_grad()\n    def forward",
    "Nothing can be learned: the whole step runs under `no_grad`, or is cut from torch's graph. "
    "Where is that switch, and what is it for?",
)
wrong(
    "StateAdded",
    "self.gru(",
    "state + self.gru(",
    "The new state is the GRU's result plus the old state. A GRU has its own gate that decides how "
    "much of the old state stays: what does it return?",
)
wrong(
    "NoContext",
    JOINED,
    "[self.embedding(y_prev), torch.zeros_like(context)]",
    "Your new state does not depend on the source: the context is computed but not used, or zeros "
    "go in. What does the GRU read besides the token?",
)
wrong(
    "ContextDetached",
    JOINED,
    "[self.embedding(y_prev), context.detach()]",
    "The numbers are right, but the model cannot learn where to look: scores or context are cut "
    "from torch's graph. Which line does that?",
)

RESULTS = "return self.out(new_state), new_state, weights"
for name, new in (
    ("EverythingSqueezed", "self.out(new_state).squeeze(), new_state.squeeze(), weights.squeeze()"),
    ("LogitsSqueezed", "self.out(new_state).squeeze(), new_state, weights"),
    ("StateSqueezed", "self.out(new_state), new_state.squeeze(), weights"),
    ("WeightsSqueezed", "self.out(new_state), new_state, weights.squeeze()"),
):
    wrong(
        name,
        RESULTS,
        f"return {new}",
        "`squeeze()` without an axis drops every axis of length 1, even that of a batch with a "
        "single sentence or of a source with a single place. Do your results need it at all?",
    )
for name, width, joined in (
    ("LogitsOfAllThree", "d_state + d_hidden + d_embed", "new_state, context, embedded"),
    ("LogitsOfContextToo", "d_state + d_hidden", "new_state, context"),
    ("LogitsOfTokenToo", "d_state + d_embed", "new_state, embedded"),
):
    wrong.several(
        name,
        {
            "nn.Linear(d_state, vocab)": f"nn.Linear({width}, vocab)",
            RESULTS: f"embedded = self.embedding(y_prev)\n"
            f"        logits = self.out(torch.cat([{joined}], -1))\n"
            "        return logits, new_state, weights",
        },
        "Your output layer has other sizes than the task's: perhaps it also reads the context or "
        "the last token, as Bahdanau's does. On what do the logits depend here?",
    )
