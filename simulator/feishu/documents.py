"""Documents and wiki pages as a person: search, text, node, rights (FEISHU.md section 6)."""

from typing import Any, cast

from simulator.company import Document
from simulator.feishu.call import Call, Route
from simulator.feishu.errors import FeishuError, bad_field
from simulator.state.matching import excerpt, highlight, score

Json = dict[str, Any]
QUERY = 30
LEAST = 0.34


def object_token(document: Document) -> str:
    """Return the token document calls take; a wiki page has another one than its node."""
    return f"doxcn{document.id}" if document.type == "wiki" else document.id


def _by_token(call: Call, token: str) -> Document | None:
    return next(
        (d for d in call.side.world.company.documents if token in (d.id, object_token(d))), None
    )


def readable(call: Call, token: str) -> Document:
    """Return a document the caller may read, by its object token.

    Raises:
        FeishuError: 1770002 for an unknown one, 1770032 for one the caller may not read.
    """
    document = _by_token(call, token)
    if document is None or token != object_token(document):
        raise FeishuError(1770002, "not found", 404)
    if not document.open_to(call.caller):
        raise FeishuError(1770032, "forBidden", 403)
    return document


def _unit(call: Call, query: str, document: Document) -> Json:
    owner = call.side.world.known(document.owner)
    wiki = document.type == "wiki"
    return {
        "title_highlighted": highlight(query, document.title),
        "summary_highlighted": highlight(query, excerpt(query, document.text)),
        "entity_type": "WIKI" if wiki else "DOC",
        "result_meta": {
            "doc_types": "WIKI" if wiki else "DOCX",
            "update_time": int(document.updated),
            "url": document.url,
            "owner_name": owner.shown,
            "owner_id": owner.open_id,
            "token": document.id,
        },
    }


def search(call: Call) -> Json:
    """POST /search/v2/doc_wiki/search; a filter that is missing leaves its kind out."""
    query = str(call.body.get("query") or "")
    if len(query) > QUERY:
        raise bad_field(f"query is longer than {QUERY} characters")
    kinds = {
        name
        for name, field in (("docx", "doc_filter"), ("wiki", "wiki_filter"))
        if isinstance(call.body.get(field), dict)
    } or {"docx", "wiki"}
    rated = [
        (score(query, f"{d.title} {d.title} {d.text}"), d.updated, d)
        for d in call.side.world.company.documents
        if d.type in kinds and d.open_to(call.caller)
    ]
    rated.sort(key=lambda row: (-row[0], -row[1]))
    hits = [document for rate, _, document in rated if rate >= LEAST]
    items, token = call.page(hits, 20, 15)
    return {
        "total": len(hits),
        "has_more": bool(token),
        "res_units": [_unit(call, query, document) for document in items],
        "page_token": token,
    }


def raw_content(call: Call) -> Json:
    """GET /docx/v1/documents/:document_id/raw_content."""
    call.limit_texts("raw_content")
    document = readable(call, call.path["document_id"])
    return {"content": f"{document.title}\n{document.text}\n"}


def document_info(call: Call) -> Json:
    """GET /docx/v1/documents/:document_id."""
    document = readable(call, call.path["document_id"])
    return {
        "document": {
            "document_id": object_token(document),
            "revision_id": 1,
            "title": document.title,
        }
    }


def markdown(call: Call) -> Json:
    """GET /docs/v1/content as markdown, docx only."""
    call.limit_texts("markdown")
    if call.query.get("doc_type") != "docx" or call.query.get("content_type") != "markdown":
        raise bad_field("doc_type is docx and content_type markdown")
    return {"content": readable(call, call.query.get("doc_token", "")).text}


def node(call: Call) -> Json:
    """GET /wiki/v2/spaces/get_node: from a wiki token to the document's."""
    document = _by_token(call, call.query.get("token", ""))
    if document is None or document.type != "wiki":
        raise FeishuError(131005, "not found: wiki node", 400)
    if not document.open_to(call.caller):
        raise FeishuError(131006, "permission denied: wiki node", 400)
    seconds = str(int(document.updated))
    return {
        "node": {
            "space_id": document.space or "7000000000000000001",
            "node_token": document.id,
            "obj_token": object_token(document),
            "obj_type": "docx",
            "parent_node_token": "",
            "node_type": "origin",
            "origin_node_token": document.id,
            "origin_space_id": document.space or "7000000000000000001",
            "has_child": False,
            "title": document.title,
            "obj_create_time": seconds,
            "obj_edit_time": seconds,
            "node_create_time": seconds,
            "owner": call.side.open_id(document.owner),
        }
    }


def may_i(call: Call) -> Json:
    """GET /drive/v1/permissions/:token/members/auth for the calling identity."""
    token, action = call.path["token"], call.query.get("action", "view")
    document = _by_token(call, token)
    if document is not None:
        allowed = document.open_to(call.caller)
        return {"auth_result": allowed and (action == "view" or document.owner == call.caller)}
    meeting = next((m for m in call.side.world.company.meetings if m.token == token), None)
    if meeting is None:
        raise FeishuError(1063005, "resource is deleted or unknown", 404)
    return {"auth_result": meeting.open_to(call.caller)}


def metas(call: Call) -> Json:
    """POST /drive/v1/metas/batch_query: title and owner, at most 200 a call."""
    asked = cast("list[Json]", call.body.get("request_docs") or [])
    if not 0 < len(asked) <= 200:
        raise bad_field("request_docs takes 1 to 200 items")
    rows: list[Json] = []
    failed: list[Json] = []
    for one in asked:
        token = str(one.get("doc_token"))
        document = _by_token(call, token)
        if document is None or not document.open_to(call.caller):
            failed.append({"token": token, "code": 970005 if document is None else 970003})
            continue
        rows.append(
            {
                "doc_token": token,
                "doc_type": one.get("doc_type"),
                "title": document.title,
                "owner_id": call.side.open_id(document.owner),
                "create_time": str(int(document.updated)),
                "latest_modify_time": str(int(document.updated)),
                "url": document.url,
            }
        )
    return {"metas": rows, "failed_list": failed}


ROUTES = [
    Route("POST", "/open-apis/search/v2/doc_wiki/search", search, "user"),
    Route("GET", "/open-apis/docx/v1/documents/:document_id", document_info),
    Route("GET", "/open-apis/docx/v1/documents/:document_id/raw_content", raw_content),
    Route("GET", "/open-apis/docs/v1/content", markdown),
    Route("GET", "/open-apis/wiki/v2/spaces/get_node", node),
    Route("GET", "/open-apis/drive/v1/permissions/:token/members/auth", may_i),
    Route("POST", "/open-apis/drive/v1/metas/batch_query", metas),
]
