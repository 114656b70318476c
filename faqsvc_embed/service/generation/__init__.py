"""Generation: read somebody's website and return the questions and answers of an FAQ. Stores nothing."""
