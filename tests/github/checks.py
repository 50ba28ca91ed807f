"""Check runs: at most 50 annotations a request, appended by later updates."""

from urllib.parse import quote

from tests.github import shapes
from tests.github.call import REPOSITORY, Answer, Call, Operation, invalid, not_found, page_of
from tests.github.state import JSON, CheckRun, Repository, State

ANNOTATIONS = 50  # a request
OUTPUT_LIMIT = 65_535  # characters of summary and of text
MESSAGE_LIMIT = 64 * 1024  # bytes of an annotation's message and of its raw details
TITLE_LIMIT = 255
_LEVELS = ("notice", "warning", "failure")


def create_run(call: Call) -> Answer:
    held, state = call.repository, call.state
    name, head = call.body.get("name"), call.body.get("head_sha")
    if not name or not head:
        invalid("name and head_sha are required")
    if held.git.resolve(head) != head:
        invalid(f"No commit found for SHA: {head}")
    run = CheckRun(state.new_id(), name, head, call.body.get("started_at") or state.timestamp())
    _apply(run, call)
    held.check_runs.append(run)
    return Answer(run_shape(call.state, held, run), 201)


def update_run(call: Call) -> Answer:
    held, run = call.repository, _known(call)
    _apply(run, call)
    return Answer(run_shape(call.state, held, run))


def _apply(run: CheckRun, call: Call) -> None:
    body = call.body
    output = body.get("output") or {}
    _check_output(output)
    _check_actions(body.get("actions") or [])
    if body.get("status") == "completed" and not body.get("conclusion"):
        invalid("conclusion is required when status is completed")
    for name in ("name", "external_id", "details_url", "status", "conclusion", "started_at", "completed_at"):
        if name in body:
            setattr(run, name, body[name])
    if body.get("conclusion"):  # GitHub sets the status by itself then
        run.status = "completed"
        run.completed_at = run.completed_at or call.state.timestamp()
    run.actions = body.get("actions", run.actions)
    run.output |= {name: output[name] for name in ("title", "summary", "text") if name in output}
    run.annotations += output.get("annotations") or []


def _check_output(output: JSON) -> None:
    annotations = output.get("annotations") or []
    if output and not (output.get("title") and output.get("summary")):
        invalid("output needs a title and a summary")
    for name in ("summary", "text"):
        if len(output.get(name) or "") > OUTPUT_LIMIT:
            invalid(f"{name} exceeds a maximum bytesize of {OUTPUT_LIMIT}")
    if len(annotations) > ANNOTATIONS:
        invalid(f"No more than {ANNOTATIONS} items are allowed; {len(annotations)} were supplied.")
    for annotation in annotations:
        _check_annotation(annotation)


def _check_annotation(annotation: JSON) -> None:
    start, end = annotation.get("start_line"), annotation.get("end_line")
    if not isinstance(start, int) or not isinstance(end, int) or not 1 <= start <= end:
        invalid("an annotation needs start_line <= end_line")
    if start != end and ("start_column" in annotation or "end_column" in annotation):
        invalid("start_column and end_column are only for annotations on one line")
    if annotation.get("annotation_level") not in _LEVELS:
        invalid(f"annotation_level must be one of {', '.join(_LEVELS)}")
    if len(annotation.get("title") or "") > TITLE_LIMIT:
        invalid(f"an annotation's title has at most {TITLE_LIMIT} characters")
    if not annotation.get("path") or not annotation.get("message"):
        invalid("an annotation needs a path and a message")
    for name in ("message", "raw_details"):
        if len((annotation.get(name) or "").encode()) > MESSAGE_LIMIT:
            invalid(f"an annotation's {name} has at most {MESSAGE_LIMIT} bytes")


def _check_actions(actions: list[JSON]) -> None:
    if len(actions) > 3:
        invalid("at most 3 actions are allowed")
    for action in actions:
        for name, limit in (("label", 20), ("description", 40), ("identifier", 20)):
            if not 1 <= len(action.get(name) or "") <= limit:
                invalid(f"an action's {name} has 1 to {limit} characters")


def get_run(call: Call) -> Answer:
    return Answer(run_shape(call.state, call.repository, _known(call)))


def list_annotations(call: Call) -> Answer:
    held, run = call.repository, _known(call)
    page, headers = page_of(call, run.annotations)
    blob = f"{shapes.WEB}/{held.full_name}/blob/{run.head}"
    optional = dict.fromkeys(("start_column", "end_column", "title", "raw_details"))
    entries = [optional | one | {"blob_href": f"{blob}/{quote(one['path'])}"} for one in page]
    return Answer(entries, headers=headers)


def list_runs(call: Call) -> Answer:
    """`filter` is `latest` unless asked otherwise: the newest run of each name."""
    held = call.repository
    head = held.git.resolve(call.path["ref"])
    runs = [run for run in held.check_runs if run.head == head]
    if call.query.get("filter", "latest") == "latest":
        runs = list({run.name: run for run in runs}.values())
    for field, wanted in (("name", call.query.get("check_name")), ("status", call.query.get("status"))):
        runs = [run for run in runs if wanted in (None, getattr(run, field))]
    page, headers = page_of(call, runs)
    body = {"total_count": len(runs), "check_runs": [run_shape(call.state, held, run) for run in page]}
    return Answer(body, headers=headers)


def _known(call: Call) -> CheckRun:
    wanted = int(call.path["check_run_id"])
    return next((run for run in call.repository.check_runs if run.id == wanted), None) or not_found()


def run_shape(state: State, held: Repository, run: CheckRun) -> JSON:
    address = f"{shapes.repository_url(held)}/check-runs/{run.id}"
    output: JSON = {"title": None, "summary": None, "text": None} | run.output
    output |= {"annotations_count": len(run.annotations), "annotations_url": f"{address}/annotations"}
    return shapes.shape(
        "check-run",
        address,
        id=run.id,
        node_id=f"CR_{run.id}",
        name=run.name,
        head_sha=run.head,
        status=run.status,
        conclusion=run.conclusion,
        external_id=run.external_id,
        details_url=run.details_url or shapes.app(state)["external_url"],
        html_url=f"{shapes.WEB}/{held.full_name}/runs/{run.id}",
        started_at=run.started_at,
        completed_at=run.completed_at,
        check_suite={"id": int(run.head[:8], 16)},
        app=shapes.app(state),
        output=output,
    )


OPERATIONS = [
    Operation("POST", f"{REPOSITORY}/check-runs", create_run, needs="checks=write"),
    Operation("GET", f"{REPOSITORY}/check-runs/{{check_run_id}}", get_run, needs="checks=read"),
    Operation("PATCH", f"{REPOSITORY}/check-runs/{{check_run_id}}", update_run, needs="checks=write"),
    Operation(
        "GET",
        f"{REPOSITORY}/check-runs/{{check_run_id}}/annotations",
        list_annotations,
        needs="checks=read",
    ),
    Operation("GET", f"{REPOSITORY}/commits/{{ref}}/check-runs", list_runs, needs="checks=read"),
]
