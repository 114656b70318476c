"""Generation: read a website and return the questions and answers of an FAQ. Stores nothing.

addresses, guard       which addresses are public; connections to those only
visiting, robots       one request, one robots.txt, each bounded
site, pages            which pages of a site, and what is on one
extraction             HTML in, questions and answers out
engines, ranking       the engine that is built in
model                  the engine that asks a language model
"""
