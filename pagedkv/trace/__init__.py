"""Traces: what a lesson run leaves behind, frozen. Types only; no torch, no engine.

``state`` is the engine at one moment, ``frame`` a moment with its caption and evidence, ``facts``
the paths by which captions cite, ``as_json`` and ``as_text`` the two written forms.
"""
