"""The container recipe and the compose file; their steps run in a plain folder."""

import re
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
import yaml

from faqsvc_embed import FAQClient, FAQEmbed
from faqsvc_embed.cli import main
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.settings import NAMES, PREFIX
from tests.operations.commands import run, serving

FOLDER: Final = Path(__file__).parents[2] / "docs/examples/container"
COMPOSE: Final[dict[str, Any]] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: Final[dict[str, dict[str, Any]]] = COMPOSE["services"]
SERVICE_VARIABLES: Final = {f"{PREFIX}DATABASE_URL"}


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their arguments."""
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    return [(name.upper(), rest.strip()) for name, _, rest in (line.partition(" ") for line in lines) if name]


def command_of(service: dict[str, Any]) -> list[str]:
    """Return the arguments of `faqsvc` that a service of the compose file runs."""
    return [*service.get("entrypoint", ["faqsvc"])[1:], *service.get("command", [])]


OWN: Final = sorted(
    name
    for name, one in SERVICES.items()
    if isinstance(one.get("build"), dict) and one["build"]["target"] == "service"
)


def test_the_recipe_runs_as_no_administrator_and_needs_no_shell() -> None:
    stages = " ".join(f"{name} {rest}\n" for name, rest in instructions()).split("FROM ")[1:]
    for stage in stages[1:]:  # the first is not run
        assert re.search(r"USER \d+\n", stage)
        assert not re.search(r"(ENTRYPOINT|CMD) [^\[]*\n", stage.split("HEALTHCHECK")[0])
    assert {name for name, _ in instructions()} <= {
        *("FROM", "ARG", "RUN", "COPY", "ENV", "USER", "WORKDIR", "VOLUME"),
        *("EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"),
    }


def test_every_file_and_stage_that_is_named_exists() -> None:
    stages = [rest.split(" AS ")[1] for name, rest in instructions() if name == "FROM"]
    for name, rest in instructions():
        if name == "COPY" and "--from" in rest:
            assert rest.split("--from=")[1].split()[0] in stages
        elif name == "COPY":
            assert (FOLDER / rest.split()[0]).is_file()
    targets = {one["build"]["target"] for one in SERVICES.values() if "build" in one}
    assert targets <= set(stages)


def test_images_have_a_version_and_no_registry() -> None:
    images = [one["image"] for one in SERVICES.values() if "image" in one]
    images += [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    for image in images:
        assert re.fullmatch(r"(?:[a-z]+/)?[a-z]+:[\w.-]+", image)


def test_services_depend_on_services_that_exist() -> None:
    for service in SERVICES.values():
        dependencies = service.get("depends_on", {})
        for name in dependencies:
            assert name in SERVICES
            if isinstance(dependencies, dict) and dependencies[name]["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[name]
    named = {volume.split(":")[0] for one in SERVICES.values() for volume in one.get("volumes", ())}
    assert {name for name in named if not name.startswith(".")} == set(COMPOSE["volumes"])


def test_every_variable_is_a_setting() -> None:
    known = {PREFIX + name.upper() for name in NAMES} | SERVICE_VARIABLES
    for service in SERVICES.values():
        used = {name for name in service.get("environment", {}) if name.startswith(PREFIX)}
        assert used <= known
    recipe = {
        word.split("=")[0] for name, rest in instructions() if name == "ENV" for word in shlex.split(rest)
    }
    assert {name for name in recipe if name.startswith(PREFIX)} <= known


@pytest.mark.parametrize("name", OWN)
def test_the_command_of_each_service_is_accepted(name: str) -> None:
    arguments = command_of(SERVICES[name])
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--help"], prog_name="faqsvc")
    assert ended.value.code == 0
    command: Any = main
    while hasattr(command, "commands"):
        command = command.commands[arguments.pop(0)]
    if "--help" not in arguments:
        command.make_context("faqsvc", arguments)  # parses the options, and runs nothing


def test_ports_are_published_on_this_machine_only() -> None:
    ports = [port for one in SERVICES.values() for port in one.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in ports)


@pytest.fixture
def folder_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, str]]:
    """Run the commands of the compose file in a folder, and yield the port and a key."""
    monkeypatch.setenv("FAQSVC_DATABASE_URL", f"sqlite:///{tmp_path}/faqs.db")
    run(*command_of(SERVICES["upgrade"]))
    key = run("keys", "create").strip()
    command, *options = [word.replace("0.0.0.0", "127.0.0.1") for word in command_of(SERVICES["faqs"])]
    assert command == "serve"
    with serving(*options, "--port", "0") as address:
        # It listens before its workers have started, which takes long on a busy machine.
        assert httpx2.get(f"{address}/livez", trust_env=False, timeout=120).status_code == 200
        yield int(address.rpartition(":")[2]), key


@pytest.mark.system
def test_a_site_reads_and_a_publisher_writes_over_plain_http(
    folder_service: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, key = folder_service
    resolve = socket.getaddrinfo

    def resolve_faqs(host: Any, *arguments: Any, **options: Any) -> Any:
        return resolve("127.0.0.1" if host in ("faqs", b"faqs") else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_faqs)
    monkeypatch.setenv("NO_PROXY", "*")
    url = f"http://faqs:{port}"
    publication: dict[str, Any] = {
        "website_url": "https://tea.example",
        "website_name": "Tea",
        "items": [("What does it cost?", "Nothing.")],
    }
    with pytest.raises(ConfigurationError):
        FAQClient(url, api_key=key)
    published = FAQClient(url, api_key=key, insecure_hosts="faqs", timeout=30).publish_faq(**publication)
    monkeypatch.setenv("FAQSVC_API_KEY", key)  # does not stop a site that only reads
    with FAQEmbed(url, wait=30, timeout=30) as embed:
        assert "Nothing." in embed.render(published.slug)
    health = httpx2.get(f"http://127.0.0.1:{port}/livez", trust_env=False, timeout=60)
    assert health.status_code == 200
