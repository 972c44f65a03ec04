"""The knowledge_search tool: several sentences at once, narrowed to what the asker may read."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from agent.errors import BadArguments, ForModel, PlumblineError, ToolFailed
from agent.ports import Tool, ToolResult
from agent.tool import tool
from rag.ports import Filters
from rag.retrieval import Retriever

_LONGEST_QUERY = 500


def search_tool(retriever: Retriever, readers: frozenset[str]) -> Tool:
    """The tool for one asker; `readers` are the labels that this person carries."""

    @tool(topic={"zh": "知识库", "en": "the knowledge base"}, permission="kb.read", timeout=5.0)
    async def knowledge_search(
        queries: Annotated[
            list[str],
            "list of 1 to 4 full sentences in any language, each saying what is looked for from "
            "another angle (the process, the rule, where to click); not lists of keywords",
            Meta(min_length=1, max_length=4),
        ],
        kinds: Annotated[
            list[str],
            "list of document kinds to search in: policy, manual, faq, incident, contract, "
            "product, guide; an empty list searches all kinds",
        ] = [],  # noqa: B006  never changed; a schema needs its default
    ) -> ToolResult:
        """Search what the company wrote down: policies, manuals, FAQs, incidents, contracts.

        Gives the passages that answer, best first, each with its source id, date and status. An
        obsolete document is marked so and stands behind the one that replaced it. No passages
        means that nothing readable for the asker answers these queries.
        """
        asked = [query[:_LONGEST_QUERY] for query in queries if query.strip()]
        if not asked:
            raise BadArguments("queries: give at least one sentence")
        filters = Filters(kinds=frozenset(kind.strip().lower() for kind in kinds if kind.strip()))
        try:
            passages = await retriever.find(asked, readers, filters)
        except ForModel:
            raise
        except PlumblineError as error:
            raise ToolFailed(f"The knowledge base could not be searched: {error}") from error
        if not passages and filters.kinds:
            note = f"No passages found among {', '.join(sorted(filters.kinds))}. Try all kinds."
            return ToolResult(note=note)
        return ToolResult(passages=passages)

    return knowledge_search
