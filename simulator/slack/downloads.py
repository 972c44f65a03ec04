"""Files by address: bytes for a good token, a sign-in page for any other."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from simulator.slack.files import take_upload, visible_file
from simulator.slack.side import SlackSide
from simulator.wire import read

SIGN_IN = "<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in</body></html>"


async def download(side: SlackSide, request: Request) -> Response:
    """GET url_private or url_private_download; POST is the second step of an upload."""
    if request.method == "POST":
        return await take_upload(side, request)
    incoming = await read(request)
    key = incoming.path.removeprefix("/files/").split("/")[0].partition("-")[2]
    caller = side.login_of(incoming.bearer)
    file = visible_file(side, caller, key) if caller else None
    if file is None:
        answer: Response = HTMLResponse(SIGN_IN)
    else:
        answer = Response(file.data, media_type=file.media_type)
    code = "ok" if file else "sign_in_page"
    side.world.record("slack", "GET", incoming.path, {}, (200, code), caller or "")
    return answer
