"""HTML in, questions and answers out: one module for each way in which pages say them."""
