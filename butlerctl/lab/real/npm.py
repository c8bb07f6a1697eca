"""npm packages in a cache folder of butlerctl: installed once, never into the system."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from butlerctl.errors import BadInput, Unreachable

NODE = "node@24"
_LOCKS = Path(__file__).parent / "locks"
# What npm calls a package or lock that is not as it ought to be; a number is the exit code of a build.
_NOT_THE_NETWORK = re.compile(
    r"E404|ETARGET|ENOVERSIONS|EUSAGE|EINTEGRITY|ERESOLVE|EBADENGINE|EBADPLATFORM|EJSONPARSE|ENOENT|\d+"
)
_TIMEOUT = 900  # seconds: a gateway of 350 MB on a slow line
_OPTIONS = (
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
    "--loglevel=error",
)


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where packages are kept: BUTLERCTL_CACHE_DIR, else the user's cache folder."""
    asked = environ.get("BUTLERCTL_CACHE_DIR")
    if asked:
        return Path(asked)
    from platformdirs import user_cache_path

    return user_cache_path("butlerctl")


def install(package: str, environ: Mapping[str, str]) -> Path:
    """The folder of executables (`node_modules/.bin`) of one package, such as `node@24`; installed on first use.

    Raises:
        Unreachable: npm cannot fetch the package.
        BadInput: there is no npm, or no such package.
    """
    target = cache_folder(environ) / "npm" / _file_name(package)
    with _missing(target) as folder:
        if folder is not None:
            _npm(folder, environ, "install", "--save-exact", package)
    return target / "node_modules" / ".bin"


def install_built(
    package: str, environ: Mapping[str, str], *, overrides: Mapping[str, str], build: Sequence[str]
) -> Path:
    """As `install`, for Node 24, with other versions of some dependencies and with these of them built.

    The packages are those of `locks/` where it knows this one. No other script of a package runs: several want to download things from elsewhere. Building needs Python, make
    and a C++ compiler; the headers are those of the Node package.
    """
    node = install(NODE, environ)
    target = cache_folder(environ) / "npm" / _file_name(package)
    with _missing(target) as folder:
        if folder is None:
            return target / "node_modules" / ".bin"
        name, _, version = package.rpartition("@")
        headers = next((node.parent / "node" / "node_modules").glob("node-*/include"), None)
        tools = {
            **environ,
            "PATH": os.pathsep.join([str(node), environ.get("PATH", os.defpath)]),
            **({"npm_config_nodedir": str(headers.parent)} if headers else {}),
        }
        project = {"private": True, "dependencies": {name: version}, "overrides": dict(overrides)}
        (folder / "package.json").write_text(json.dumps(project), encoding="utf-8")
        lock = _LOCKS / f"{_file_name(package)}.json"
        if lock.is_file():
            shutil.copyfile(lock, folder / "package-lock.json")
        _npm(folder, tools, "ci" if lock.is_file() else "install", "--ignore-scripts", "--prefer-offline")
        _npm(folder, tools, "rebuild", *build)
    return target / "node_modules" / ".bin"


def install_project(source: Path, environ: Mapping[str, str]) -> Path:
    """A copy of the project in `source` with the packages of its lock; made anew when a file of it changes.

    Raises:
        Unreachable: npm cannot fetch the packages.
        BadInput: there is no npm, or no project.
    """
    files = project_files(source)
    target = cache_folder(environ) / "projects" / tree_digest(source, files)[:16] / source.name
    with _missing(target) as folder:
        if folder is not None:
            for path in files:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / path, folder / path)
            _npm(folder, environ, "ci")
    return target


def project_files(source: Path) -> tuple[Path, ...]:
    """The files of a project, relative to it, in order; without what npm installed.

    Raises:
        BadInput: there is no project.
    """
    if not (source / "package.json").is_file():
        raise BadInput(f"{source}: there is no package.json")
    paths = (path.relative_to(source) for path in source.rglob("*") if path.is_file())
    return tuple(sorted(path for path in paths if path.parts[0] != "node_modules"))


def tree_digest(source: Path, files: Sequence[Path]) -> str:
    """sha256 (hex) over names and contents."""
    digest = hashlib.sha256()
    for path in files:
        content = hashlib.sha256((source / path).read_bytes()).hexdigest()
        digest.update(f"{path.as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def _file_name(package: str) -> str:
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", package)


@contextmanager
def _missing(target: Path) -> Iterator[Path | None]:
    """A folder that takes the target's place at the end, so that nobody ever sees half an installation; None when the
    target is there. One process installs, others wait for it: an installation keeps a machine busy for minutes.
    """
    if target.exists():
        yield None
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / f".{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.exists():
            yield None
            return
        with tempfile.TemporaryDirectory(prefix=".installing-", dir=target.parent) as name:
            folder = Path(name) / "content"
            folder.mkdir()
            yield folder
            folder.rename(target)


def _npm(folder: Path, environ: Mapping[str, str], *command: str) -> None:
    npm = shutil.which("npm", path=environ.get("PATH"))
    if npm is None:
        raise BadInput(
            "the real servers are installed by npm, and there is no npm", hint="install Node.js with npm"
        )
    try:
        done = subprocess.run(  # noqa: S603 - the path of npm, and arguments of our own
            [npm, *command, "--prefix", str(folder), *_OPTIONS],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unreachable(f"npm {' '.join(command)}: not done after {_TIMEOUT} s") from None
    if done.returncode != 0:
        reason = _reason(done.stderr)
        told = f"npm {' '.join(command)} failed: {reason}"
        if _NOT_THE_NETWORK.fullmatch(reason):
            raise BadInput(told, hint="the version, the lock or the tools to build with are at fault")
        raise Unreachable(told, hint="the package registry must be reachable for the first installation")


def _reason(stderr: str) -> str:
    """The error code of npm itself code (`ENOTFOUND`, `E404`); its other lines name hosts and paths."""
    match = re.search(r"^npm error code (\S+)", stderr, re.MULTILINE)
    return match[1] if match else "no reason given"
