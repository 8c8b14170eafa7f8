"""Mechanisms: each module opens with the theorem that it rests on."""
