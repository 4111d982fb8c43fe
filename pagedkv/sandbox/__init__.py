"""The sandbox: a learner's own requests, on the real engine.

`script` is a session as a list of `actions`; `session` does them and leaves a trace; `as_link`,
`as_file` and `as_python` are its written forms. Read `session.py` first.
"""
