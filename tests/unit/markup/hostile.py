"""The twenty ways of M10 to put a link, a picture or a mention into an answer, and nestings."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.unit.markup.soup import PIECES

FORMS: dict[str, tuple[str, ...]] = {
    "inline link": ("[click](HTTP)", "[click](<HTTP>)", "[click]( HTTP )", "[](HTTP)"),
    "link with title": ("[click](HTTP 'title')", '[click](HTTP "a](b")', "[click](HTTP\n'title')"),
    "picture": ("![img](HTTP/i.png)", "![](HTTP)", "![img](data:image/png;base64,AAAA)"),
    "linked picture": ("[![i](HTTP/i.png)](HTTP)", "![[x](HTTP)](HTTP)"),
    "reference link": ("[click][r]\n\n[r]: HTTP", "[r]\n\n[r]: <HTTP> 'title'"),
    "collapsed reference": ("[click][]\n\n[click]: HTTP", "![click][]\n\n[click]: HTTP"),
    "autolink": ("<HTTP>", "<bob@HOST>", "<mailto:bob@HOST>"),
    "bare address": ("HTTP", "HTTP/?q=secret", "//HOST/x", "hTTps://HOST", "ftp://HOST/f"),
    "bare host": ("HOST", "HOST/x?y=z", "sub.HOST", "HOST:8080/a", "10.0.0.1/x", "例子.中国"),
    "www host": ("www.HOST", "WWW.HOST/a", "(www.HOST)"),
    "mail address": ("bob@HOST", "mailto:bob@HOST", "bob.carter+x@HOST"),
    "Slack link": ("<HTTP|safe>", "<HTTP|https://good.example.com>", "<mailto:bob@HOST|mail>"),
    "HTML link": ("<a href='HTTP'>x</a>", "<A HREF=HTTP>x", '<area href="HTTP">'),
    "HTML picture": ("<img src=HTTP>", '<IMG SRC="HTTP"/>', "<svg onload=fetch('HTTP')>"),
    "broken by an invisible": (
        "ht\u200btps://HOST", "evil\u200b.com", "evil.\u2060com", "<\u200b!channel>"
    ),
    "full-width dot": ("evil。com", "evil．com", "https：//evil．com", "evil｡com"),
    "entities": ("&#104;ttps://HOST", "evil&#46;com", "&lt;!channel&gt;", "&#60;at id=all&#62;"),
    "Slack mention": ("<!channel>", "<!here|x>", "<!subteam^S1|x>", "<@U123>", "<#C1|x>"),
    "Feishu mention": (
        "<at id=all></at>", '<at user_id="all">所有人</at>', "<at email=bob@HOST></at>"
    ),
    "other scheme": (
        "[x](javascript:alert(1))", "javascript:alert(1)", "slack://user?id=U1", "tel:123"
    ),
}  # fmt: skip
"""Variants by the name of their form; HTTP and HOST stand for an address and a host."""
HOSTS = ("evil.com", "evil.com.cn", "EVIL.io", "xn--abc.com", "evil-1.dev", "恶意.com")

Nest = Callable[[str], str]

NESTS: tuple[Nest, ...] = (
    lambda t: f"**{t}**",
    lambda t: f"*{t}*",
    lambda t: f"_{t}_",
    lambda t: f"~~{t}~~",
    lambda t: f"# {t}",
    lambda t: f"> {t}",
    lambda t: f"- {t}",
    lambda t: f"- a\n  - {t}",
    lambda t: f"1. {t}",
    lambda t: f"| a | b |\n|---|---|\n| x | {t} |",
    lambda t: f"`{t}`",
    lambda t: f"`{t}",
    lambda t: f"```\n{t}\n```",
    lambda t: f"```\n```\n{t}\n```",
    lambda t: f"[{t}](x)",
    lambda t: f"[{t}][src:kb-1]",
    lambda t: f"[src:kb-1]({t})",
    lambda t: f"[src:{t}]",
    lambda t: f"[src:kb-1]{t}[src:kb-2]",
    lambda t: f"\\{t}",
    lambda t: f"中文{t}中文",
    lambda t: f"“{t}”。",
    lambda t: f"\u202e{t}\u202c",
    lambda t: t.replace(".", ".**", 1) + "**",
    lambda t: t.replace(".", ".****", 1),
    lambda t: t.replace(".", ".`\n`", 1),
    lambda t: t.replace(".", "`.`", 1),
    lambda t: t.replace(":", ":** **", 1),
    lambda t: t.replace("<", "<\\", 1),
    lambda t: t[: len(t) // 2] + "[src:nope]" + t[len(t) // 2 :],
    lambda t: t[: len(t) // 2] + "``" + t[len(t) // 2 :],
    lambda t: t[: len(t) // 2] + "\n" + t[len(t) // 2 :],
)


def case(seed: int) -> tuple[str, str]:
    """The name of a form and an answer that holds it, nested up to four deep amid other pieces."""
    chance = random.Random(seed)
    name = tuple(FORMS)[seed % len(FORMS)]
    host = chance.choice(HOSTS)
    text = chance.choice(FORMS[name]).replace("HTTP", f"http://{host}/a_b*c").replace("HOST", host)
    for nest in chance.choices(NESTS, k=chance.randint(0, 4)):
        text = nest(text)
    before, behind = (chance.choices(PIECES, k=chance.randint(0, 5)) for _ in "12")
    return name, "".join((*before, text, *behind))
