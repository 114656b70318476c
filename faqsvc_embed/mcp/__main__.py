"""`python -m faqsvc_embed.mcp`: what `faqsvc mcp` does."""

import sys

try:
    from faqsvc_embed.mcp.server import main
except ModuleNotFoundError as error:
    package = (error.name or "").partition(".")[0]
    sys.exit(f"Error: {package} is not installed: pip install 'faqsvc-embed[mcp]'")

main()
