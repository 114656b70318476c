"""A page written to a file, with an FAQ: `python docs/examples/static_page.py > prices.html`."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install


def main() -> None:
    """Print the page; an FAQ that cannot be fetched ends the build."""
    environment = Environment(autoescape=True, loader=FileSystemLoader(Path(__file__).parent / "templates"))
    with FAQEmbed(strict=True) as embed:
        install(environment, embed)
        print(environment.get_template("home.html").render())


if __name__ == "__main__":
    main()
