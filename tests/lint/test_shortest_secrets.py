"""The shortest secret of each vendor is found wherever it stands, and one character less is none."""

from __future__ import annotations

import pytest

from butlerctl.workflows.engine import lint_documents

RANDOM = "x7Kq2Lm9Rt4Vb8Nc3Hd6Fg1Js5Pw0Zy4Au7TeQ6iW2oX9sD3fG8hJ1kL5zC0vB4nM"
UPPER = "X7KQ2LM9RT4VB8NC"
SHORTEST = {
    "AWS": ("AK" + "IA", UPPER),
    "Google API": ("AI" + "za", RANDOM[:35]),
    "Google client": ("GOC" + "SPX-", RANDOM[:20]),
    "Google access": ("ya" + "29.", RANDOM[:20]),
    "Google refresh": ("1/" + "/0", RANDOM[:30]),
    "API": ("s" + "k-", RANDOM[:20]),
    "Stripe": ("sk_" + "live_", RANDOM[:16]),
    "GitHub": ("gh" + "p_", RANDOM[:36]),
    "GitHub fine-grained": ("github_" + "pat_", RANDOM[:40]),
    "GitLab": ("gl" + "pat-", RANDOM[:20]),
    "Slack": ("xo" + "xb-", RANDOM[:12]),
    "Hugging Face": ("h" + "f_", RANDOM[:30]),
    "Notion": ("nt" + "n_", RANDOM[:40]),
    "Apify": ("apify_" + "api_", RANDOM[:30]),
    "Groq": ("gs" + "k_", RANDOM[:40]),
    "SendGrid": ("S" + "G.", RANDOM[:16] + "." + RANDOM[16:32]),
    "JSON web token": ("ey" + "J", RANDOM[:10] + ".ey" + "J" + RANDOM[:10] + "." + RANDOM[:10]),
    "Slack webhook": ("https://hooks.slack" + ".com", "/services/T1/B2/" + RANDOM[:20]),
    "Discord webhook": ("https://discord.test/api/web" + "hooks/", "1" * 17 + "/" + RANDOM[:60]),
    "Telegram": ("12345678:" + "AA", RANDOM[:33]),
}
PLACES = {
    "by itself": "{}",
    "in a sentence": "the key is {} and no other",
    "in code": 'const key = "{}";\nreturn [];',
    "behind long code": "// a step\n" * 60 + "const key = '{}';",
}


def codes(text):
    node = {"name": "Step", "type": "n8n-nodes-base.code", "parameters": {"jsCode": text}}
    return [item.code for item in lint_documents({"a.json": {"nodes": [node], "connections": {}}}).findings]


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(("start", "rest"), SHORTEST.values(), ids=SHORTEST)
def test_a_secret_of_the_least_length_is_found(start, rest, place):
    assert codes(place.format(start + rest)).count("BW501") == 1
    assert "BW501" not in codes(place.format(start + rest[:-1]))


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("kind", ["", "RSA ", "OPENSSH "])
def test_a_private_key_is_found_although_its_words_are_short(kind, place):
    assert codes(place.format("-----BEGIN " + kind + "PRIVATE KEY-----")).count("BW501") == 1


def test_a_secret_in_a_short_and_in_a_long_value_is_told_once_for_each_place():
    secret = "".join(SHORTEST["GitHub"])
    parameters = {"jsCode": "// a step\n" * 60 + secret, "note": secret}
    node = {"name": "Step", "type": "n8n-nodes-base.code", "parameters": parameters}
    report = lint_documents({"a.json": {"nodes": [node], "connections": {}}})
    told = [item.message for item in report.findings if item.code == "BW501"]
    assert len(told) == 1
    assert told[0].endswith("(also at line 8)")
