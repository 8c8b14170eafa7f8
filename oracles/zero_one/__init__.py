"""The 0-1 loss of linear classifiers over an integer grid of weights."""
