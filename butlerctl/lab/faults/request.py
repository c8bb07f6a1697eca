"""The request does not reach n8n as it was called, or its answer does not come back."""

from __future__ import annotations

from butlerctl.inventory.operations import Route
from butlerctl.lab.faults.base import Fault, Faults, Plant, plugin, writes
from butlerctl.lab.n8n import answers
from butlerctl.lab.n8n.answers import Answer
from butlerctl.lab.stack import Lab

_NGINX_404 = answers.page(
    404,
    "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n"
    "<hr><center>nginx/1.24.0 (Ubuntu)</center>\r\n</body>\r\n</html>\r\n",
)


def _in_front(answer: Answer) -> Plant:
    """Something between the gateway and n8n answers in its place, on this route."""

    def plant_it(lab: Lab, route: Route) -> None:
        path = f"/webhook/{lab.webhook_path(route)}"
        before = lab.n8n.switches.in_front
        lab.n8n.switches.in_front = lambda asked: answer if asked == path else before(asked)

    return plant_it


FAULTS: Faults = {
    "nowhere": Fault("the plugin sends where nothing listens", plugin("wrong_base_url")),
    "redirect": Fault(
        "something in front of n8n redirects to a sign-in page",
        _in_front(answers.redirect("https://sign-in.example.test/", 302)),
    ),
    "moved": Fault(
        "a proxy redirects to https", _in_front(answers.redirect("https://n8n.example.test/webhook/", 301))
    ),
    "gateway": Fault("a proxy in front of n8n answers 502", _in_front(answers.gateway_page(502))),
    "unavailable": Fault("a proxy in front of n8n answers 503", _in_front(answers.gateway_page(503))),
    "gateway_timeout": Fault(
        "a proxy in front of n8n gives up with 504", _in_front(answers.gateway_page(504))
    ),
    "gate": Fault("a sign-in page in front of n8n answers 200", _in_front(answers.sign_in_page())),
    "other_server": Fault("another server answers with its own 404", _in_front(_NGINX_404)),
    "argument_lost": Fault("the plugin leaves an argument out", plugin("drops_argument"), writes),
    "argument_changed": Fault("the plugin changes an argument", plugin("alters_argument"), writes),
    "body_lost": Fault("the plugin sends an empty body", plugin("empty_body"), writes),
    "timeout": Fault("the answer does not come back in time", plugin("lost_answer")),
}
