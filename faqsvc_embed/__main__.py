"""`python -m faqsvc_embed`: the command `faqsvc`."""

from faqsvc_embed.cli import main

main(prog_name="faqsvc")
