"""Tasks v1: task lists of one user, tasks that are flagged when deleted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from butlerctl.lab.google.call import Call, Handler
from butlerctl.lab.google.errors import bad_request, not_found, precondition_failed
from butlerctl.lab.google.paging import page, visible
from butlerctl.lab.google.store import Item, TaskList
from butlerctl.lab.google.times import parse_instant, stamp

_WRITABLE = ("title", "notes", "status", "due", "completed", "deleted")


def _list(call: Call) -> TaskList:
    """The list that the call names; another user's is as unknown as none."""
    name = call.get("tasklist")
    own = [item for item in call.store.task_lists.values() if item.owner == call.user]
    found = next((item for item in own if item.id == name), None)
    if name == "@default" and own:
        return own[0]
    if found is None:
        raise not_found("Task list not found.")
    return found


def _task(call: Call, task_list: TaskList) -> dict[str, Any]:
    for item in task_list.tasks:
        if item.body["id"] == call.get("task"):
            return item.body
    raise not_found("Task not found.")


def get_task(call: Call) -> dict[str, Any]:
    task = _task(call, _list(call))
    if task.get("deleted") and call.switches.deleted_task == "404":
        raise not_found("Task not found.")
    return task


def insert_task(call: Call) -> dict[str, Any]:
    task_list = _list(call)
    task_id = call.store.new_id(22)
    task: dict[str, Any] = {
        "kind": "tasks#task",
        "id": task_id,
        "status": "needsAction",
        "title": "",
        "position": f"{len(task_list.tasks):020d}",
        "selfLink": f"https://www.googleapis.com/tasks/v1/lists/{task_list.id}/tasks/{task_id}",
        "links": [],
        "webViewLink": f"https://tasks.google.com/task/{task_id}?sa=6",
    }
    task |= _written(call)
    task_list.tasks.insert(0, Item(task))
    _touch(task, call)
    return task


def _written(call: Call) -> dict[str, Any]:
    """The fields that a client may set. Of `due` only the day is kept."""
    given = {key: call.body[key] for key in _WRITABLE if key in call.body}
    if len(given.get("title") or "") > 1024 or len(given.get("notes") or "") > 8192:
        raise bad_request("Request contains an invalid argument.")
    if given.get("status", "needsAction") not in {"needsAction", "completed"}:
        raise bad_request("Invalid value for status.")
    if given.get("due"):
        given["due"] = _day(given["due"], call)
    return given


def _day(due: str, call: Call) -> str:
    instant = parse_instant(due)
    if instant is None or not re.search(r"([Zz]|[+-]\d{2}:\d{2})$", due):
        raise bad_request("Request contains an invalid argument.")
    day = instant.astimezone(UTC) if call.switches.due_date == "utc" else instant
    return f"{day.date().isoformat()}T00:00:00.000Z"


def _touch(task: dict[str, Any], call: Call) -> None:
    task["etag"] = call.store.next_etag()
    task["updated"] = stamp(call.store.now())


def patch_task(call: Call) -> dict[str, Any]:
    return _change(call, keep=True)


def update_task(call: Call) -> dict[str, Any]:
    return _change(call, keep=False)


def _change(call: Call, *, keep: bool) -> dict[str, Any]:
    task = _task(call, _list(call))
    _check_etag(call, task)
    written = _written(call)
    for name in _WRITABLE:
        if written.get(name) is not None:
            task[name] = written[name]
        elif name in written or not keep:
            task.pop(name, None)
    task.setdefault("status", "needsAction")
    if task["status"] == "completed":
        task.setdefault("completed", stamp(call.store.now()))
    _touch(task, call)
    return task


def _check_etag(call: Call, task: dict[str, Any]) -> None:
    if call.switches.tasks_if_match and call.if_match not in {None, "*", task["etag"]}:
        raise precondition_failed()


def delete_task(call: Call) -> None:
    task = _task(call, _list(call))
    if task.get("deleted"):
        raise not_found("Task not found.")
    _check_etag(call, task)
    task["deleted"] = True
    _touch(task, call)


def list_tasks(call: Call) -> dict[str, Any]:
    """An empty list has no `items`."""
    task_list = _list(call)
    found = [item.body for item in visible(task_list.tasks, call) if _asked(call, item.body)]
    items, token = page(found, call, default=20, maximum=100)
    answer: dict[str, Any] = {"kind": "tasks#tasks", "etag": call.store.next_etag()}
    if items:
        answer["items"] = list(items)
    return answer | ({"nextPageToken": token} if token else {})


def _asked(call: Call, task: dict[str, Any]) -> bool:
    completed = task["status"] == "completed"
    return (
        (not task.get("deleted") or call.get("showDeleted", False))
        and (not completed or call.get("showCompleted", True))
        and (not task.get("hidden") or call.get("showHidden", False))
        and _is_due(call, task)
    )


def _is_due(call: Call, task: dict[str, Any]) -> bool:
    low, high = call.get("dueMin"), call.get("dueMax")
    if not (low or high):
        return True
    if "due" not in task:
        return False
    due = datetime.fromisoformat(task["due"])
    return (not low or due >= _bound(low)) and (not high or due < _bound(high))


def _bound(text: str) -> datetime:
    instant = parse_instant(text)
    if instant is None or instant.tzinfo is None:
        raise bad_request("Request contains an invalid argument.")
    return instant


def list_task_lists(call: Call) -> dict[str, Any]:
    own = [_shown_list(call, item) for item in call.store.task_lists.values() if item.owner == call.user]
    items, token = page(own, call, default=1000, maximum=1000)
    answer = {"kind": "tasks#taskLists", "etag": call.store.next_etag(), "items": list(items)}
    return answer | ({"nextPageToken": token} if token else {})


def get_task_list(call: Call) -> dict[str, Any]:
    return _shown_list(call, _list(call))


def _shown_list(call: Call, task_list: TaskList) -> dict[str, Any]:
    return {
        "kind": "tasks#taskList",
        "id": task_list.id,
        "etag": call.store.next_etag(),
        "title": task_list.title,
        "updated": stamp(call.store.now()),
        "selfLink": f"https://www.googleapis.com/tasks/v1/users/@me/lists/{task_list.id}",
    }


HANDLERS: Mapping[str, Handler] = {
    "tasks.tasks.get": get_task,
    "tasks.tasks.insert": insert_task,
    "tasks.tasks.patch": patch_task,
    "tasks.tasks.update": update_task,
    "tasks.tasks.delete": delete_task,
    "tasks.tasks.list": list_tasks,
    "tasks.tasklists.list": list_task_lists,
    "tasks.tasklists.get": get_task_list,
}
