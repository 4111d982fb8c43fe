"""``python -m kernels.bench``: how fast the kernels are on this machine's GPU, in under 4 minutes.

First it checks that they are right. Without a GPU it prints what can be said honestly: how many
bytes the algorithm must move (a bound, no measurement), what a step costs in the interpreter, and
what following a block table costs in plain torch on this CPU.
"""
