"""Data sets that ship with their public schema."""
