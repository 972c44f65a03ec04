"""Markdown soup: pieces that meet in every order, plain, Chinese, emoji and hostile."""

from agent.domain import Source

SOURCES = {
    "kb-1": Source("kb-1", "Travel", "https://docs.example.com/travel?a=1&b=(2)"),
    "kb-2": Source("kb-2", "差旅", "https://wiki.example.com/差旅"),
    "bare": Source("bare", "No address"),
}
PIECES = [
    " ", " ", " ", "\n", "\n", "\n\n", "\r\n", "word", "报销", "标准。", "，", ".", "a", "1", "5.",
    "2) ", "- ", "* ", "+ ", "  - ", "    - x", "1. ", "10. ", "# ", "### 标题", "> ", ">> ", "---",
    "***", "___", "===", "*", "**", "***", "_", "__", "~~", "~", "`", "``", "```", "```py\n",
    "~~~\n", "````", "|", "| a | b |\n", "|---|---|\n", "| c | d |\n", "|-|-|", "\\", "\\*",
    "\\[", "[", "]", "(", ")", "!", "![", "<", ">", "&", "&amp;", "&lt;", "&#46;", "&#x200b;",
    "&nbsp;", "[src:kb-1]", "[src:kb-2, kb-1]", "[src:nope]", " [src:nope]",
    "[src:bare; src:nope]", "[src:", "[src:kb", "[no-answer]", "[no-", "**bold**", "*em*",
    "~~gone~~", "`code`", "**“强调”**", "中**粗**文", "snake_case_name", "2 * 3", "😀",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u200b", "\u202e", "\t", "example.com",
    "evil.com/x", "https://evil.com/a_b*c", "http://", "www.evil.com", "bob@evil.com",
    "10.0.0.1/x", "evil。com", "例子.中国", "exam\u200bple.com", "mailto:a@b.co",
    "javascript:alert(1)", "[click](http://evil.com)", "[click](http://evil.com 'title')",
    "![img](http://evil.com/i.png)", "[ref][r]", "[r]: http://evil.com", "<http://evil.com>",
    "<http://evil.com|safe>", "<!channel>", "<!here|x>", "<@U123>", "<#C1|x>", "<at id=all></at>",
    '<at id="ou_1">x</at>', "<img src=http://evil.com>", "<a href='http://evil.com'>x</a>",
    "[a](<http://evil.com>)", "[**b**](http://evil.com)",
    "[![i](http://evil.com)](http://evil.com)", "[[x](y)](z)",
]  # fmt: skip
