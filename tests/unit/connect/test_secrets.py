"""The login can be read nowhere, whatever goes wrong and however often the service repeats it."""

from __future__ import annotations

import html
import json
import logging
import re
import traceback
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import quote, quote_plus

import httpx
import pytest
from pydantic import SecretStr

from pipelines.connect.errors import ConnectError, NotJson
from pipelines.connect.models import Login, Try
from tests.unit.connect.fake_service import (
    FINAL,
    LOGIN,
    MAY_PASS,
    ROWS,
    SALES,
    Chunks,
    Reply,
    Service,
    client,
    error_of,
    read,
)

USERNAME, PASSWORD = LOGIN.username, LOGIN.password.get_secret_value()
TOKEN = b64encode(f"{USERNAME}:{PASSWORD}".encode()).decode()
SECRETS = (PASSWORD, TOKEN, b64encode(PASSWORD.encode()).decode(), USERNAME)
TELLING = f"you are {USERNAME} with {PASSWORD}, Basic {TOKEN} {SECRETS[2]}"


def _telling(trouble: Reply) -> Reply:
    """The same trouble, by a service that repeats the login in its body, headers and errors."""
    if isinstance(trouble, Exception):
        return type(trouble)(TELLING)
    return lambda request: _echo(trouble(request))


def _echo(said: httpx.Response) -> httpx.Response:
    headers = {
        "x-echo": quote(PASSWORD) + f"Basic {TOKEN}",
        "location": f"https://x:{TOKEN}@elsewhere.example/{TOKEN}",
        "www-authenticate": f"Basic {TOKEN}",
    }
    ends = httpx.ReadError(TELLING) if said.status_code == 200 else None
    return httpx.Response(said.status_code, headers=headers, stream=Chunks(TELLING.encode(), end=ends))


def _told(error: BaseException) -> str:
    """All that a traceback of ours can show: messages, attributes, and the variables of every frame."""
    lines = [repr(error), str(error), repr(vars(error))]
    shown: BaseException | None = error
    while shown is not None:
        for frame, _ in traceback.walk_tb(shown.__traceback__):
            if "tests" not in Path(frame.f_code.co_filename).parts:
                lines += [repr(value) for value in frame.f_locals.values()]
        shown = shown.__cause__ or shown.__context__
    return "\n".join(lines)


@pytest.mark.parametrize("name", [*MAY_PASS, *FINAL])
async def test_no_error_path_shows_the_login(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    tries: list[Try] = []
    shown: list[str] = []
    service = Service(_telling((MAY_PASS | FINAL)[name][0]))
    async with client(service, on_try=tries.append) as asking:
        for _ in range(2):
            with pytest.raises(ConnectError) as caught:
                await asking.get(SALES, read)
            shown.append(_told(caught.value))
        shown += [repr(asking), repr(tries), caplog.text]
    assert [secret for secret in SECRETS if secret in "\n".join(shown)] == []


@pytest.mark.parametrize("name", FINAL)
async def test_the_answer_to_a_rejected_request_does_not_contain_the_password(name: str) -> None:
    answer = (await error_of(_telling(FINAL[name][0]))).answer
    assert answer is not None
    kept = "\n".join([answer.body.decode(), answer.url, str(answer.headers), answer.content_type])
    assert [secret for secret in SECRETS[:3] if secret in kept] == []


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": json.dumps,
    "JSON in capitals": lambda text: "".join(f"\\u{ord(sign):04X}" for sign in text),
    "JSON in UTF-8": partial(json.dumps, ensure_ascii=False),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)[1:-1]),
    "JSON in JSON in UTF-8": lambda text: json.dumps(json.dumps(text, ensure_ascii=False)[1:-1]),
    "an address": partial(quote, safe=""),
    "a form": quote_plus,
    "HTML": html.escape,
    "HTML in numbers": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "a form in small letters": lambda text: re.sub("%..", lambda found: found[0].lower(), quote_plus(text)),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("password", [PASSWORD, "S3kr3t-Pärla!%41", 'a"b\\c/d+e f', "x.*(y"])
def test_the_password_is_hidden_however_it_is_spelled(spelling: str, password: str) -> None:
    login, written = Login("anna", SecretStr(password)), SPELLINGS[spelling](password).strip('"')
    assert login.hide(f"<{written}> .") == "<[hidden]> ."
    assert login.hide_in_body(f"<{written}> .".encode(), has_rows=False) == b"<[hidden]> ."


def test_base64_is_hidden_without_its_padding() -> None:
    assert LOGIN.hide(f"Basic {TOKEN.rstrip('=')}.") == "Basic [hidden]."


@pytest.mark.parametrize("spelling", ["plain", "JSON", "JSON in UTF-8", "an address", "HTML"])
def test_secrets_that_can_hardly_be_data_are_hidden_in_rows(spelling: str) -> None:
    password = 'S3kr3t-"Pärla!'
    login = Login("anna", SecretStr(password))
    rows = f"[1, {login.authorization()}, {SPELLINGS[spelling](password).strip(chr(34))}]"
    assert login.hide_in_body(rows.encode(), has_rows=True) == b"[1, Basic [hidden], [hidden]]"


@pytest.mark.parametrize("password", ["Stockholm", "Nya Stockholm", "20260101", "M30-1", "1 000 000"])
def test_a_password_that_may_be_data_stays_in_rows(password: str) -> None:
    login = Login("anna", SecretStr(password))
    rows = f'[{{"city": "{password}"}}]'.encode()
    assert login.hide_in_body(rows, has_rows=True) == rows


async def test_a_login_repeated_among_rows_is_hidden_in_the_answer() -> None:
    rows = json.dumps([{"id": 7, "said": f"Basic {TOKEN}; {PASSWORD}"}]).encode()
    async with client(Service(lambda _: httpx.Response(200, content=rows))) as asking:
        answer, _ = await asking.get(SALES, read)
    assert answer.body == b'[{"id": 7, "said": "Basic [hidden]; [hidden]"}]'


async def test_the_login_is_hidden_in_the_error_of_a_reader() -> None:
    def quoting(body: bytes) -> object:
        raise ValueError(f"{TELLING} {len(body)}")

    async with client(Service(ROWS)) as asking:
        with pytest.raises(NotJson) as caught:
            await asking.get(SALES, quoting)
    assert [secret for secret in SECRETS if secret in str(caught.value)] == []
