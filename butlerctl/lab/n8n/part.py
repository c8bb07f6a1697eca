"""What the lab and its planted faults need of an n8n, whichever stands behind it: the stand-in or the real one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from butlerctl.lab.n8n.webhooks import Switches


class WorkflowEditor(Protocol):
    """What a person can do to a workflow. Every method raises Refused where n8n refuses."""

    def save(self, workflow_id: str, document: Mapping[str, Any], /) -> object:
        """A new version that is not published, as the editor saves it."""

    def publish(self, workflow_id: str, version_id: str = "", /) -> object:
        """Serve a version, the newest unless another one is named."""

    def unpublish(self, workflow_id: str, /) -> object: ...

    def archive(self, workflow_id: str, /) -> object: ...

    def remove(self, workflow_id: str, /) -> object: ...

    def publish_beside(self, workflow_id: str, /) -> object:
        """As `n8n publish:workflow` beside the server: the API says active, the path answers 404."""

    def publish_unheard(self, workflow_id: str, document: Mapping[str, Any], /) -> None:
        """Saved and published, and what answers goes on with the version before. Raises UsageProblem: not the real n8n."""


class N8nPart(Protocol):
    """`add_credential` works before and after `start`, everything else after it."""

    @property
    def workflows(self) -> WorkflowEditor: ...

    @property
    def switches(self) -> Switches:
        """The real n8n has all but `credentials`; `twice` sends it the request twice."""

    def start(self) -> str:
        """The address without a slash at its end."""

    def close(self) -> None: ...

    def add_credential(self, credential_id: str, name: str, kind: str, data: Mapping[str, Any]) -> object: ...

    def spoil_credential(self, credential_id: str, data: Mapping[str, Any] | None, *, path: str) -> None:
        """The webhook at `path` finds this credential with other data, or (None) not at all.

        The real n8n has one store: there every workflow with this credential finds it so.
        """

    def import_workflow(self, document: Mapping[str, Any], *, active: bool = True) -> str:
        """Its id. Raises Refused where n8n refuses to publish it."""

    def create_api_key(self) -> str:
        """For verification and deployment: reads and writes workflows, reads executions and the list of credentials."""
