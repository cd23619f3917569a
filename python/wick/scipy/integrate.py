"""Integrals of samples."""
from wick.numpy import trapezoid  # noqa: F401
