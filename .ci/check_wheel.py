"""Checks the installed wheel: it is complete, installs nothing else, and imports without any extra."""

import importlib.metadata
import sys
from pathlib import Path

import faqsvc_embed

checkout, package = Path(sys.argv[1]), Path(faqsvc_embed.__file__).parent
assert not package.is_relative_to(checkout), f"imported from the checkout: {package}"
assert importlib.metadata.version("faqsvc-embed") == faqsvc_embed.__version__
imported = {
    "flask",
    "starlette",
    "fastapi",
    "django",
    "mcp",
    "redis",
    "granian",
    "httpx2",
} & sys.modules.keys()
assert not imported, f"import faqsvc_embed imports {imported}"

source = checkout / "faqsvc_embed"
files = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
files = {path for path in files if path.suffix not in (".pyc", ".pyo")}
assert Path("py.typed") in files, "there is no py.typed"
absent = sorted(str(path) for path in files if not (package / path).is_file())
assert not absent, f"not in the wheel: {absent}"
installed = {file.parts[0] for file in importlib.metadata.files("faqsvc-embed") or []}
stray = sorted(name for name in installed - {"faqsvc_embed", "..", "bin"} if not name.endswith(".dist-info"))
assert not stray, f"the wheel also installs {stray}"
print(f"{len(files)} files of the package are in the wheel, and it imports alone")
