"""Adapters for particular libraries; each file needs its library, which an extra of the package installs.

`sb3` (Stable-Baselines3), `torchrl`, `open_spiel`, `textarena`. They translate the environments and hold no rule.
"""


def missing_extra(error: ImportError, extra: str) -> ImportError:
    """What to raise where a library is missing: the error that says which extra of the package installs it."""
    return ImportError(f"{error}; this needs more than the package itself: pip install 'ohhell-env[{extra}]'")
