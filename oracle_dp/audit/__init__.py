"""Evidence: instances on which a claim can be checked exactly, and calibrations that must fail."""
