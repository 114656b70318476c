"""`python -m faqsvc_embed.mcp`: what `faqsvc mcp` does."""

import sys

try:
    from faqsvc_embed.mcp.server import main
except ModuleNotFoundError as error:
    sys.exit(f"Error: {error.name} is not installed: pip install 'faqsvc-embed[mcp]'")

main()
