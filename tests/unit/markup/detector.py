"""Finds live references in rendered text. Knows the platforms, not the renderer."""

import html
import re
import unicodedata

_CONTROL = re.compile(r"<\s*(?:[!@#/a-z]|https?:|mailto:)", re.IGNORECASE)
_MARKDOWN_LINK = re.compile(r"\]\s*\(|\]\s*\[[^\]]*\]|^\s*\[[^\]]+\]:\s", re.MULTILINE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(
    r"\b(?:mailto|javascript|data|tel|file|lark|slack):[^\s`*_~'\"\u2400]", re.IGNORECASE
)
_HOST = re.compile(r"[^\W_][.。．｡](?=[^\W\d_]{2})")


def without_code(text: str, *, backslashes: bool) -> str:
    """The text with code taken out; escaped characters become a harmless mark."""
    text = re.sub(r"^(?:> )*```.*?(?:^(?:> )*```$|\Z)", "\n", text, flags=re.MULTILINE | re.DOTALL)
    out, at = "", 0
    while at < len(text):
        c = text[at]
        if c == "\\" and backslashes:
            out += "\u2400" if text[at + 1 : at + 2] in "[]()`" else text[at + 1 : at + 2]
            at += 2
        elif c == "`" and (end := text.find("`", at + 1)) > 0:
            out += "\u2400"
            at = end + 1
        else:
            out += c
            at += 1
    return out


def live_references(text: str, allowed: set[str], *, form: str) -> list[str]:
    """Everything that a client would make a link, picture or mention of, outside the table.

    `form` is markdown (Slack), mrkdwn, card or plain (a Feishu text, which knows no code);
    `allowed` holds the addresses of the table.
    """
    rest = text if form == "plain" else without_code(text, backslashes=form == "markdown")
    for address in allowed:
        if form == "mrkdwn":
            known = re.escape(address.replace("&", "&amp;"))
            rest = re.sub(rf"<{known}\|\[\d+\]>", "\u2400", rest)
            # A label is words to a client, whatever stands in it.
            rest = re.sub(rf"<{known}\|[^<>|]*>", "\u2400", rest)
        else:
            known = re.escape(address)
            rest = re.sub(rf"\[\[\d+\]\]\({known}\)", "\u2400", rest)
            rest = re.sub(rf"\[([^\[\]]*)\]\({known}\)", r"\1", rest)
    found = [m[0] for m in _CONTROL.finditer(rest)]
    if form in ("markdown", "card"):
        found += [m[0] for m in _MARKDOWN_LINK.finditer(rest)]
    seen = rest if form == "plain" else html.unescape(rest)
    seen = "".join(c for c in seen if unicodedata.category(c) != "Cf")
    for pattern in (_SCHEME, _OTHER_SCHEME):
        found += [m[0] for m in pattern.finditer(seen)]
    for m in _HOST.finditer(seen):
        dot, right = seen[m.end() - 1], seen[m.end()]
        # Chinese sentences touch their full stop; a full-width dot makes a host between Latin only.
        if dot == "." or (seen[m.start()].isascii() and right.isascii()):
            found.append(seen[m.start() : m.end() + 3])
    return found
