"""Files by address: bytes for a good token, a sign-in page for any other."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from simulator.slack.side import SlackSide
from simulator.wire import read

SIGN_IN = "<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in</body></html>"


async def download(side: SlackSide, request: Request) -> Response:
    """GET url_private or url_private_download; a caller must see a chat the file is in."""
    incoming = await read(request)
    key = incoming.path.removeprefix("/files/").split("/")[0].partition("-")[2]
    caller = side.login_of(incoming.bearer)
    file = side.world.files.get(key)
    seen = caller is not None and any(
        file.key == key for message in side.space.everything(caller) for file in message.files
    )
    if file is None or not (seen or file.owner == caller):
        answer: Response = HTMLResponse(SIGN_IN)
    else:
        answer = Response(file.data, media_type=file.media_type)
    code = "ok" if answer.media_type != "text/html" else "sign_in_page"
    side.world.record("slack", "GET", incoming.path, {}, (200, code), caller or "")
    return answer
