"""`python -m faqsvc_embed.cli`: the command without its script."""

from faqsvc_embed.cli import main

main(prog_name="faqsvc")
