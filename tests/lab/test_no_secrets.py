"""Recognisable secrets in every place that can hold one, and none of them in any output or file."""

from __future__ import annotations

import base64
import itertools
import json
import secrets

import pytest

from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.n8n.answers import Answer, json_answer
from butlerctl.lab.stack import BUTLERCTL_CLIENT, N8N_CLIENT, Lab
from butlerctl.state import state_folder
from tests.lab import odd_servers
from tests.lab.needles import found, texts_in
from tests.lab.shell import ROOT, Shell

ADD = "calendar_add/wife"
PASSWORD = "Userinfo-S3cret-4711"
MODEL_KEY = "Model-S3cret+/4711"
PASSPHRASE = "Passphrase-S3cret 4711"


class Vault:
    """A lab whose secrets are awkward and recognisable, a shell that knows them, and everything said so far."""

    def __init__(self, shell: Shell, lab: Lab) -> None:
        self.shell = shell
        self.lab = lab
        self.said: list[tuple[str, str]] = []
        self.written: dict[object, str] = {}
        environ = lab.environ()
        tokens = [json.loads(value) for name, value in environ.items() if "GOOGLE_TOKEN" in name]
        self.secrets = [
            *(environ[name] for name in ("OPENCLAW_GATEWAY_TOKEN", "N8N_API_KEY", "N8N_WEBHOOK_SECRET")),
            *(token["refresh_token"] for token in tokens),
            BUTLERCTL_CLIENT.secret, N8N_CLIENT.secret, PASSWORD, MODEL_KEY, PASSPHRASE,
        ]  # fmt: skip
        self.environ = environ | {
            "N8N_URL": environ["N8N_URL"].replace("//", f"//ops:{PASSWORD}@"),
            "BUTLERCTL_MODEL_KEY": MODEL_KEY,
            "BUTLERCTL_KEY_PASSPHRASE": PASSPHRASE,
        }

    def run(self, *command, code=None, **changed):
        ended = self.shell.run(*command, environ=self.environ | changed)
        self.said += [(" ".join(map(str, command)), text) for text in (ended.out, ended.err)]
        assert code is None or ended.code == code, (command, ended)
        return ended

    def assert_kept(self):
        """Of all that was said and written since the last time."""
        access = list(self.lab.google.tokens._access)
        written = dict(texts_in(self.shell.folder))
        new = [(path, text) for path, text in written.items() if self.written.get(path) != text]
        texts = [*self.said, *new]
        self.said.clear()
        self.written = written
        leaks = [(what, found(self.secrets + access, text)) for what, text in texts]
        assert [f"{what}: {which}" for what, which in leaks if which] == []


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    number = itertools.count()
    with pytest.MonkeyPatch.context() as patch:
        # Quotes, brackets and slashes: what JSON, HTML, URLs and shells write in another way.
        patch.setattr(secrets, "token_urlsafe", lambda *_: f'S3cret"&<{next(number)}>\\/+=%-4711')
        shell = Shell(tmp_path_factory.mktemp("vault"))
        with Lab(load_inventory(shell.inventory, {})) as lab:
            yield Vault(shell, lab)


def test_the_search_finds_a_secret_however_it_is_written():
    secret = 'S3cret"&<7>\\/+=%-4711'
    hidden = base64.b64encode(json.dumps({"headers": {"X-Key": secret}}).encode()).decode()
    for text in (
        secret,
        json.dumps([secret]),
        f'{{"payload": "{hidden}"}}',
        "S3cret&quot;&amp;&lt;7&gt;\\/+=%-4711",
    ):
        assert found([secret], text) == [secret]
    assert found([secret], "S3cret") == []


def test_no_secret_is_shown_or_kept_while_all_goes_well(vault):
    vault.run("keys", "new", code=0)
    vault.run("verify", "--save-evidence", "seen", "--report", "good.json", code=0)
    vault.run("verify", "--only", "tasks_list/wife", "--format", "json", code=0)
    vault.run("probe", "--format", "json", code=0)
    vault.run("roundtrip", "sheets_*/wife", "--format", "json", code=0)
    for look in ("text", "json", "html", "junit", "prometheus"):
        vault.run("report", "show", "good.json", "--format", look, code=0)
    key = vault.shell.folder / "state" / "keys" / "signing.pem.pub"
    vault.run("report", "verify", "good.json", "--key", key, "--inventory", vault.shell.inventory, code=0)
    for look in ("text", "json", "junit"):
        vault.run("diagnose", "seen/calendar_add_wife", "--format", look, code=0)
    vault.run("lint-workflows", "--placeholders")
    vault.run("keys", "show", code=0)
    vault.run("sweep", "--format", "json", code=0)
    vault.run("plan", "--out", "plan.json")
    vault.run("snapshot")
    vault.run("drift", "--format", "json")
    vault.run("gateway", "check", "--format", "json")
    # The search looks where all of that was written: ledger, reports, evidence, snapshots.
    names = {path.name for path, _ in texts_in(vault.shell.folder)}
    assert {"ledger.jsonl", "good.json", "bundle.json", "signing.pem"} <= names
    assert list(state_folder(vault.shell.inventory, vault.shell.folder / "state").iterdir())
    vault.assert_kept()


def test_no_secret_is_shown_or_kept_when_answers_repeat_it(vault):
    """n8n, a proxy and the workflow say it in their answers, and the agent passes it on."""
    lab, path = vault.lab, "L4CK3Y/calendar/add/wife"
    webhook_secret = vault.environ["N8N_WEBHOOK_SECRET"]
    words = f"header X-L4CK3Y-Auth was {webhook_secret}"
    answers = [
        json_answer(500, {"message": words}),
        json_answer(200, {"ok": True, "data": {"note": words}}),
        Answer(502, words.encode(), "text/plain"),
    ]
    for number, answer in enumerate(answers):
        lab.n8n.switches.instead[path] = answer
        seen = f"told-{number}"
        vault.run("verify", "--only", ADD, "--save-evidence", seen, "--report", f"{seen}.json", code=1)
    vault.run("diagnose", "told-0/calendar_add_wife", code=1)
    vault.run("report", "show", "told-0.json", "--format", "html", code=0)
    vault.run("roundtrip", ADD, "--format", "json", code=1)
    del lab.n8n.switches.instead[path]
    vault.assert_kept()


@pytest.mark.parametrize(
    ("variable", "status"),
    [
        *(("N8N_URL", status) for status in (200, 401, 500)),
        *(("OPENCLAW_GATEWAY_URL", status) for status in (200, 401, 500)),
        *(("BUTLERCTL_GOOGLE_URL", status) for status in (200, 400, 401)),
    ],
)
def test_no_secret_is_shown_or_kept_when_a_stranger_echoes_what_it_was_sent(vault, variable, status):
    with odd_servers.echoing(status) as url:
        for command in (("verify", "--only", ADD, "--format", "json"), ("sweep",)):
            ended = vault.run(*command, **{variable: url})
            assert ended.code in {0, 3, 75, 77, 78}
    vault.assert_kept()


def test_no_secret_is_shown_or_kept_when_butlerctl_is_refused(vault):
    stale = {
        name: value + "x"
        for name, value in vault.environ.items()
        if name.endswith(("TOKEN", "KEY", "SECRET"))
    }
    vault.secrets += stale.values()
    for name, value in stale.items():
        vault.run("verify", "--only", ADD, **{name: value})
    grant = vault.lab.google.grant(vault.lab.account("wife").email, client=BUTLERCTL_CLIENT)
    vault.lab.google.revoke(grant)
    vault.secrets.append(grant.refresh_token)
    for command in (("verify", "--only", ADD), ("sweep",)):
        vault.run(*command, code=77, BUTLERCTL_GOOGLE_TOKEN_WIFE=grant.authorized_user())
    vault.assert_kept()


def test_no_secret_of_the_model_check_and_the_tap_is_shown_or_kept(vault):
    with odd_servers.echoing(401) as url:
        vault.run("model", "check", "--url", url, "--model", "m", code=77)
        with vault.shell.start("tap", "--to", url, "--record", "tapped") as tap:
            listening = tap.stdout.readline().strip()
            vault.run("model", "check", "--url", listening, "--model", "m", code=77)
            tap.terminate()
            vault.said.append(("tap", "".join(tap.communicate(timeout=10))))
    assert list((vault.shell.folder / "tapped").iterdir())
    vault.assert_kept()


def test_no_secret_of_a_file_is_shown_or_kept(vault, tmp_path):
    text = vault.shell.inventory.read_text(encoding="utf-8")
    text = text.replace("directory: workflows", f"directory: {ROOT}/workflows")
    for name in ("OPENCLAW_GATEWAY_TOKEN", "N8N_API_KEY", "N8N_WEBHOOK_SECRET"):
        text = text.replace(f"${{{name}}}", f"file:{name}")
        (tmp_path / name).write_text(vault.environ[name] + "\n", encoding="utf-8")
    (tmp_path / "inventory.yaml").write_text(text, encoding="utf-8")
    inventory = tmp_path / "inventory.yaml"
    vault.run(
        "verify", "--inventory", inventory, "--only", "tasks_*", "--save-evidence", "from-files", code=0
    )
    (tmp_path / "N8N_API_KEY").write_text(vault.environ["N8N_API_KEY"] + "x\n", encoding="utf-8")
    vault.run("verify", "--inventory", inventory, "--only", "tasks_*", code=77)
    vault.assert_kept()


def test_no_secret_is_in_the_log_of_a_bug(vault):
    """A bug whose very message holds the secret: what is written for the maintainers is redacted."""
    site = vault.shell.folder.parent / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(
        "import os, butlerctl.checks.live as live\n"
        "def read_live(api, *_):\n"
        "    raise RuntimeError(f\"sent {os.environ['N8N_WEBHOOK_SECRET']} with {api._key}\")\n"
        "live.read_live = read_live\n"
    )
    ended = vault.run("verify", "--only", ADD, code=70, PYTHONPATH=f"{site}:{ROOT}")
    assert "please send" in ended.err
    logs = list((vault.shell.folder / "tmp").glob("butlerctl-bug-*.log"))
    assert len(logs) == 1
    assert "RuntimeError" in logs[0].read_text()
    vault.assert_kept()
    logs[0].unlink()
