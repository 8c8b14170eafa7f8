"""Private gradient descent, on all records or on Poisson batches."""
