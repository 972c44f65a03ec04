"""The whole simulator as the control API sees it."""

from dataclasses import dataclass
from typing import Any

from simulator.delivery import Courier
from simulator.feishu.cardshelf import CardShelf
from simulator.feishu.side import FeishuSide
from simulator.slack.side import SlackSide
from simulator.state.workspace import BOT, Message, Workspace
from simulator.state.world import World

Json = dict[str, Any]


class ControlError(Exception):
    """A control call that makes no sense; the text says what to change."""


@dataclass(slots=True)
class Sim:
    """World, both platforms and the way to the bot."""

    world: World
    feishu: FeishuSide
    slack: SlackSide
    courier: Courier

    def space(self, platform: str) -> Workspace:
        """Return a platform's workspace.

        Raises:
            ControlError: there is no such platform.
        """
        if platform == "feishu":
            return self.feishu.space
        if platform == "slack":
            return self.slack.space
        raise ControlError(f"platform is feishu or slack, not {platform!r}")

    async def reset(self) -> None:
        """Put everything back to its start; open pages stay connected."""
        await self.world.settle()
        self.world.records.clear()
        self.world.faults.remove()
        self.world.files.clear()
        self.courier.forget()
        fresh = make_sides(self.world)
        self.feishu, self.slack = fresh
        for platform in ("feishu", "slack"):
            self.world.feed.publish(platform, "reset", lambda _login: {})


def make_sides(world: World) -> tuple[FeishuSide, SlackSide]:
    """Make both platforms with the company's data in them."""
    feishu = FeishuSide(world, Workspace("feishu", lambda s, m: announce(world, s, m)), CardShelf())
    slack = SlackSide(world, Workspace("slack", lambda s, m: announce(world, s, m)))
    feishu.seed()
    slack.seed()
    return feishu, slack


def announce(world: World, space: Workspace, message: Message) -> None:
    """Tell the open pages that a message is new or looks different."""

    def seen(login: str) -> bool:
        return space.may_see(login, message.chat) and message.visible_to in (None, login)

    if message.deleted:
        world.feed.publish(
            space.platform, "deleted", lambda login: {"id": message.id} if seen(login) else None
        )
    else:
        world.feed.publish(
            space.platform,
            "message",
            lambda login: view(world, space, message) if seen(login) else None,
        )
        root = space.find(message.thread)
        if root is not None:
            announce(world, space, root)


def author_of(world: World, login: str) -> Json:
    """Name an author for the page."""
    if login == BOT:
        return {"bot": True, "name": "Plumbline"}
    return {"login": login, "name": world.company.shown(login)}


def view(world: World, space: Workspace, message: Message) -> Json:
    """Make the message object of the control API."""
    name = world.company.shown
    return {
        "id": message.id,
        "chat": message.chat,
        "thread": message.thread,
        "quote": message.parent if message.thread is None else None,
        "root": message.root,
        "replies": len(space.replies(message)),
        "author": author_of(world, message.author),
        "at": message.at,
        "kind": message.kind,
        "text": message.text,
        "card": message.card,
        "blocks": message.blocks,
        "streaming": message.streaming,
        "status": message.status,
        "edited": message.edits,
        "deleted": message.deleted,
        "reactions": [
            {"name": emoji, "by": ["Plumbline" if who == BOT else name(who) for who in logins]}
            for emoji, logins in message.reactions.items()
        ],
        "files": [
            {
                "name": file.name,
                "url": f"{world.origin}/sim/files/{file.key}",
                "media_type": file.media_type,
            }
            for file in message.files
        ],
        "visible_to": message.visible_to,
        "tasks": list(message.extra.get("tasks", {}).values()),
        "title": message.extra.get("title", ""),
        "follow_ups": message.extra.get("follow_ups", []),
    }
