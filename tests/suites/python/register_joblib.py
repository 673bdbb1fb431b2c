"""A pytest plugin: joblib's tests find our backend among the others."""

import multipy.joblib  # noqa: F401
