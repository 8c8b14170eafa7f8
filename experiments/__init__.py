"""Tables, figures and pre-registered checks; they use both packages by their public names only."""
