"""Which scope a call needs, so that a scope can be taken away (FEISHU.md 3-6, SLACK.md 3-6)."""

import re

_IM = "/open-apis/im/v1"
_FEISHU = (
    ("GET", rf"{_IM}/messages/[^/]+/resources/[^/]+", "im:message:readonly"),
    ("POST", rf"{_IM}/messages/[^/]+/reactions", "im:message.reactions:write_only"),
    ("POST", rf"{_IM}/messages(/[^/]+/reply)?", "im:message:send_as_bot"),
    ("(PUT|PATCH)", rf"{_IM}/messages/[^/]+", "im:message:update"),
    ("DELETE", rf"{_IM}/messages/[^/]+(/reactions/[^/]+)?", "im:message:send_as_bot"),
    ("POST", rf"{_IM}/messages/search", "search:message"),
    ("GET", rf"{_IM}/messages", "im:message.group_msg"),
    ("GET", rf"{_IM}/messages/.*", "im:message:readonly"),
    ("POST", rf"{_IM}/(images|files)", "im:resource"),
    ("GET", rf"{_IM}/chats(/.*)?", "im:chat:read"),
    (".*", "/open-apis/cardkit/v1/.*", "cardkit:card:write"),
    ("GET", "/open-apis/contact/v3/departments/.*", "contact:department.base:readonly"),
    ("GET", "/open-apis/contact/v3/group/.*", "contact:group:readonly"),
    ("GET", "/open-apis/contact/v3/.*", "contact:user.base:readonly"),
    ("POST", "/open-apis/search/v2/message", "search:message"),
    ("POST", "/open-apis/search/v2/doc_wiki/search", "search:docs:read"),
    ("GET", "/open-apis/docx/v1/documents/.*", "docx:document:readonly"),
    ("GET", "/open-apis/docs/v1/content", "docs:document.content:read"),
    ("POST", "/open-apis/drive/v1/metas/.*", "drive:drive.metadata:readonly"),
    ("GET", "/open-apis/wiki/v2/.*", "wiki:node:read"),
    ("GET", "/open-apis/drive/v1/permissions/.*", "docs:permission.member:auth"),
    ("POST", "/open-apis/minutes/v1/minutes/search", "minutes:minutes.search:read"),
    ("GET", "/open-apis/minutes/v1/minutes/[^/]+/artifacts", "minutes:minutes.artifacts:read"),
    ("GET", "/open-apis/minutes/v1/minutes/[^/]+/transcript", "minutes:minutes.transcript:export"),
    ("GET", "/open-apis/minutes/v1/minutes/[^/]+", "minutes:minutes:readonly"),
)
_SLACK = {
    "reactions.add": "reactions:write",
    "reactions.get": "reactions:read",
    "users.info": "users:read",
    "usergroups.list": "usergroups:read",
    "files.info": "files:read",
    "conversations.open": "im:write",
    "search.messages": "search:read",
    "assistant.search.context": "search:read.public",
    "assistant.threads.setStatus": "assistant:write",
    "assistant.threads.setTitle": "assistant:write",
    "assistant.threads.setSuggestedPrompts": "assistant:write",
    "canvases.getContent": "canvases:read",
    "apps.connections.open": "connections:write",
}
_SLACK_HISTORY = {"D": "im:history", "C": "channels:history", "G": "groups:history"}


def scope_of(platform: str, method: str, path: str, channel: str = "") -> str:
    """Return the scope a call needs, empty when it needs none.

    channel is the Slack channel of a call that reads history: its letter decides the scope.
    """
    if platform == "feishu":
        for verb, pattern, scope in _FEISHU:
            if re.fullmatch(verb, method) and re.fullmatch(pattern, path):
                return scope
        return ""
    name = path.removeprefix("/api/")
    if name.startswith("chat."):
        return "chat:write"
    if name in ("conversations.replies", "conversations.history"):
        return _SLACK_HISTORY.get(channel[:1], "channels:history")
    if name in ("conversations.info", "conversations.list", "conversations.members"):
        return "channels:read"
    return _SLACK.get(name, "")
