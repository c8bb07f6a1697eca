"""What the documents and the help texts say about files, commands, options and numbers is so."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from typer.main import get_command

from butlerctl.cli.app import app
from butlerctl.cli.registry import COMMANDS
from butlerctl.lab.conformance.catalogue import CASES
from butlerctl.protocol.battery import SCENARIOS
from butlerctl.protocol.wires import ADAPTERS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")),
         *sorted(ROOT.glob("extensions/*/README.md"))]  # fmt: skip
SOURCES = sorted((ROOT / "butlerctl").rglob("*.py"))
WRITTEN_BY_MAKE = re.compile(r"(conformance|deployments|n8n-faults|n8n-versions)-?\S*\.md")


def commands():
    """Each command by its words, such as `report verify`; `snapshot` stands beside `snapshot list`."""
    root = get_command(app)
    found = {}
    for name in COMMANDS:
        command = root.get_command(None, name)
        below = getattr(command, "commands", {})
        found.update({f"{name} {each}": sub for each, sub in below.items()})
        if not below or command.invoke_without_command:
            found[name] = command
    return found


BY_WORDS = commands()
OPTIONS = {
    words: {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    | {"-h", "--help"}
    for words, command in BY_WORDS.items()
}


def spans(text):
    return re.findall(r"`([^`\n]+)`", text)


def code_lines(text):
    """The lines of fenced and indented blocks."""
    fenced = [
        line for block in re.findall(r"```[a-z]*\n(.*?)```", text, re.DOTALL) for line in block.splitlines()
    ]
    return fenced + re.findall(r"^    (\S.*)$", text, re.MULTILINE)


def faults_of(line):
    """What is wrong with the words behind `butlerctl`, or with a line that begins with the name of a command."""
    words = line.split(" #")[0].split()
    command = next((name for name in (" ".join(words[:2]), *words[:1]) if name in OPTIONS), None)
    if command is None:
        return [] if words[:1] and words[0] in COMMANDS and len(words) == 1 else [f"no command: {line}"]
    given = [match[0] for word in words if (match := re.match(r"\[?(--[a-z][a-z-]*)", word))]
    return [f"{command} has no {each}: {line}" for each in given if each.strip("[") not in OPTIONS[command]]


def invocations(text):
    for line in (*spans(text), *code_lines(text)):
        yield from re.findall(r"\bbutlerctl ([a-z][a-z-]*\b[^;|)\"]*)", line.replace(r"\|", "|"))


def test_links_between_the_pages_lead_somewhere():
    astray = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            there = page.parent / path if path else page
            if not there.exists() or (anchor and anchor not in anchors(there)):
                astray.append(f"{page.name}: {target}")
    assert astray == []


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_command_line_in_the_pages_is_one_that_the_program_takes():
    lines = [(page.name, line) for page in PAGES for line in invocations(page.read_text(encoding="utf-8"))]
    assert len(lines) > 60
    assert [(name, fault) for name, line in lines for fault in faults_of(line)] == []


def test_the_table_of_the_readme_has_every_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.search(r"\| command \|.+\n((?:\|.+\n)+)", readme)
    named = [span.split()[0] for row in rows[1].splitlines() for span in spans(row.split(" | ")[0])]
    assert sorted(named) == sorted(COMMANDS)


def test_every_option_that_the_pages_name_exists():
    known = set().union(*OPTIONS.values())
    unknown = [
        (page.name, option)
        for page in PAGES
        for span in spans(page.read_text(encoding="utf-8"))
        if span.startswith("--") or span.split()[0] in COMMANDS
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", span)
        if option not in known
    ]
    assert unknown == []


def test_help_and_hints_name_commands_and_options_that_exist():
    found = [
        (path.name, fault)
        for path in SOURCES
        for span in spans(path.read_text(encoding="utf-8"))
        if "{" not in span and re.match(r"butlerctl [a-z]|(?!butlerctl)[a-z-]+ --[a-z]", span)
        for line in [span.removeprefix("butlerctl ")]
        if line.split()[0] in COMMANDS or span != line
        for fault in faults_of(line)
    ]
    assert found == []


@pytest.mark.parametrize("words", sorted(set(BY_WORDS) - {"lab faults"}))
def test_the_help_of_each_command_says_what_its_exit_codes_mean(words):
    assert "Exit code" in (BY_WORDS[words].help or "")


def test_help_is_plain_ascii_so_that_any_terminal_shows_it():
    for words, command in BY_WORDS.items():
        shown = command.get_help(command.make_context(words, [], resilient_parsing=True))
        assert shown.isascii(), words


def test_lines_of_the_pages_fit_an_editor():
    long = []
    for page in PAGES:
        if WRITTEN_BY_MAKE.fullmatch(page.name):
            continue
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        long += [(page.name, line) for line in text.splitlines() if len(line) > 120 and line[0] != "|"]
    assert long == []


def test_the_page_about_the_gateways_check_lists_exactly_its_checks():
    made = set()
    for path in (ROOT / "butlerctl" / "checks").glob("gateway*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                made.update(re.findall(r"^(gateway\.[a-z_0-9]+)(?:$|\[)", node.value))
    page = (ROOT / "docs" / "gateway-check.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `gateway.")]
    told = {name for row in rows for name in re.findall(r"gateway\.[a-z_0-9]+", row)}
    assert told == made


def test_every_file_that_the_pages_name_is_there():
    folders = ("butlerctl", "tests", "extensions", "examples", "benchmarks", ".")
    names = {path.name for each in folders for path in (ROOT / each).glob("**/*.*" if each != "." else "*")}
    missing = [
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"`([\w./-]+\.(?:py|mjs|js|yaml|toml))`", page.read_text(encoding="utf-8"))
        if Path(name).name not in names
        or ("/" in name and not any((folder / name).exists() for folder in (ROOT, ROOT / "butlerctl")))
    ]
    assert missing == []


def test_the_plugins_page_says_what_each_of_its_files_does():
    for page in ROOT.glob("extensions/*/README.md"):
        rows = re.findall(r"^\| `(\S+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert sorted(rows) == sorted(path.name for path in page.parent.glob("*.mjs"))


def test_numbers_in_the_pages_are_the_programs():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"for {len(ADAPTERS)} wire formats" in changes
    assert f"{len(CASES)} misbehaviours" in changes
    assert len(SCENARIOS) == 14
    assert "asks fourteen small requests" in (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
