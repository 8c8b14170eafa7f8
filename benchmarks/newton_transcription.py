"""Double-noise Newton in plain NumPy, as the formulas read: what the package is timed against.

Not private in any guaranteed sense: NumPy's own generator, and parameters as given.
"""

from __future__ import annotations

import numpy as np


def transcribed_step(
    x: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    *,
    rho: float,
    gradient_share: float,
    trace_share: float,
    modification: str,
    rng: np.random.Generator,
) -> np.ndarray:
    """One step of Ganesh et al. (2023), Algorithm 3 with Section 5.2, upper-bound curvature."""
    n, d = x.shape
    margins = y * (x @ w)
    gradient = -(x * (y / (1 + np.exp(margins)))[:, None]).mean(axis=0)
    size = np.maximum(np.abs(margins), 1e-4)
    bend = np.tanh(size / 2) / (2 * size)
    matrix = x.T @ (bend[:, None] * x) / n
    rho_gradient = gradient_share * rho
    rho_trace = trace_share * (rho - rho_gradient)
    rho_direction = rho - rho_gradient - rho_trace
    noisy = gradient + rng.normal(size=d) / (n * np.sqrt(2 * rho_gradient))
    trace = np.trace(matrix) + rng.normal() / (4 * n * np.sqrt(2 * rho_trace))
    floor = max((max(trace, 0) / (n**2 * rho_direction)) ** (1 / 3), 1 / n)
    values, vectors = np.linalg.eigh(matrix)
    held = values + floor if modification == "add" else np.maximum(values, floor)
    direction = vectors @ ((vectors.T @ noisy) / held)
    scale = np.linalg.norm(noisy) / (4 * n * floor**2 * np.sqrt(2 * rho_direction))
    return w - direction + rng.normal(size=d) * scale
