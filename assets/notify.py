"""Channels that carry news to people, each in its own form: a webhook and e-mail.

News name what the service sent, so that no channel may take them for more than text.
"""

from __future__ import annotations

import html
import re
import smtplib
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage

import httpx
from pydantic import SecretStr

from assets.messages import JOB_OF_SELECTED_ASSETS, LOGIN, SELECTED_ASSETS, News, Subject
from assets.runs.run_log import columns_in_words
from pipelines.foreign_text import visible_lines
from pipelines.settings.model import Settings
from pipelines.sync.causes import Cause, names, shortened
from pipelines.words import counted

TIMEOUT_SECONDS = 30.0
SMTP_OVER_TLS_PORT = 465
MOST_ENDS = 5
MOST_RUNS_NAMED = 3
LONGEST_LINE = 300
LONGEST_TEXT = 1400
"""Signs of a message below its subject; what is beyond is in the UI and in `brokerbi status`."""
_MENTION_OR_LINK = re.compile(r"(?<!\w)@(?=\w)|\](?=[(\[:])")


@dataclass(frozen=True)
class Message:
    """News in words: a subject and a text."""

    subject: str
    text: str


class ChannelRefused(Exception):
    """A channel did not take the news."""


Channel = Callable[[News], None]


@dataclass(frozen=True)
class Webhook:
    """Posts {"text": ...}, which chat services and most others understand; the address is a secret."""

    address: SecretStr
    transport: httpx.BaseTransport | None = None

    def __call__(self, news: News) -> None:
        message = in_words(news)
        body = {"text": as_chat_text(f"{message.subject}\n\n{message.text}")}
        try:
            with httpx.Client(transport=self.transport, timeout=TIMEOUT_SECONDS) as client:
                answer = client.post(self.address.get_secret_value(), json=body)
        except httpx.HTTPError as error:
            raise ChannelRefused(f"the webhook cannot be reached ({type(error).__name__})") from None
        if not answer.is_success:
            raise ChannelRefused(f"the webhook answered {answer.status_code}; check its address")


@dataclass(frozen=True)
class Email:
    """Sends through an SMTP server; with a username the connection must be encrypted first."""

    to: tuple[str, ...]
    sender: str
    host: str
    port: int = 587
    username: str = ""
    password: SecretStr | None = None

    def __call__(self, news: News) -> None:
        message = in_words(news)
        mail = EmailMessage()
        mail["Subject"] = message.subject
        mail["From"] = self.sender
        mail["To"] = ", ".join(self.to)
        mail.set_content(visible_lines(message.text))
        try:
            with self._connect() as server:
                if self.username and self.password:
                    server.login(self.username, self.password.get_secret_value())
                server.send_message(mail)
        except (OSError, smtplib.SMTPException) as error:
            raise ChannelRefused(
                f"the mail server {self.host} did not take the mail: {_reason(error)}"
            ) from None

    def _connect(self) -> smtplib.SMTP:
        """A connection, encrypted where the server can; raises SMTPException when a login would not be."""
        context = ssl.create_default_context()
        if self.port == SMTP_OVER_TLS_PORT:
            return smtplib.SMTP_SSL(self.host, self.port, timeout=TIMEOUT_SECONDS, context=context)
        server = smtplib.SMTP(self.host, self.port, timeout=TIMEOUT_SECONDS)
        server.ehlo()
        if server.has_extn("starttls") or self.username:
            server.starttls(context=context)
        return server


def in_words(news: News) -> Message:
    """A subject and a text: a line for each cause, for what is over and for new columns, and the runs."""
    ends, number = _ends(news.over), len(news.to_do) + news.more_to_do
    last = [f"- Over: {one}" for one in ends[:MOST_ENDS]]
    if len(ends) > MOST_ENDS:
        last.append(f"- Over: {len(ends) - MOST_ENDS} more")
    columns = [*columns_in_words(news.columns).values()]
    if news.more_columns:
        columns.append(counted(news.more_columns, "more column"))
    if columns:
        last.append(f"- New in the answers: {shortened('; '.join(columns), LONGEST_LINE)}")
    if news.runs and number:
        more = ", the latest" if len(news.runs) > MOST_RUNS_NAMED else ""
        named = ", ".join(_link(news.ui_url, one) for one in news.runs[-MOST_RUNS_NAMED:])
        last.append(f"{counted(len(news.runs), 'run')} failed{more}: {named}")
    if number:
        subject = f"{counted(number, 'thing')} to do"
    elif ends:
        subject = f"{len(ends)} trouble{'s are' if len(ends) > 1 else ' is'} over"
    else:
        subject = "the service answers in other columns"
    return Message(f"brokerbi, {news.day}: {subject}", _limited(news, last))


def _line(one: Cause) -> str:
    return ": ".join(filter(None, (_job(one.first.job), one.line)))


def _job(name: str) -> str:
    return SELECTED_ASSETS if name == JOB_OF_SELECTED_ASSETS else name


def _link(ui_url: str, run_id: str) -> str:
    return f"{ui_url.rstrip('/')}/runs/{run_id}" if ui_url else f"run {run_id}"


def _ends(over: Sequence[Subject]) -> list[str]:
    """What is over, a line for the same of several customers."""
    same: dict[tuple[str, str], list[str]] = {}
    for one in over:
        of_many = one.cause if one.cause == LOGIN or not one.customer else ""
        same.setdefault((one.kind, one.report or _job(one.job) or of_many), []).append(one.customer)
    words = {key: " of ".join(filter(None, (key[1], names(customers)))) for key, customers in same.items()}
    return [f"{kind} ({about})" if about else kind for (kind, _), about in words.items()]


def _limited(news: News, last: Sequence[str]) -> str:
    """As many causes as fit with the lines that come last, and how many do not."""
    kept: list[str] = []
    for part in (f"- {_line(one)}" for one in news.to_do):
        if len("\n".join([*kept, part, *last])) > LONGEST_TEXT:
            break
        kept.append(part)
    if left := len(news.to_do) + news.more_to_do - len(kept):
        kept.append(f"- and {left} more; `brokerbi status` shows them all")
    return "\n".join([*kept, *last])


def as_chat_text(text: str) -> str:
    """The text so that no chat service finds a mention, a link or markup in it.

    `&`, `<` and `>` are written as chat services ask for it, which show the signs: `<!channel>` would call
    everybody. What others find in text or Markdown, `@all` or `[text](address)`, gets a space without width.
    """
    return _MENTION_OR_LINK.sub("\\g<0>\u200b", html.escape(visible_lines(text), quote=False))


def _reason(error: Exception) -> str:
    """What went wrong, without a mail server's own words: an answer to a login may repeat it."""
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{type(error).__name__}, code {error.smtp_code}"
    return str(error)


def _email(settings: Settings) -> Email:
    return Email(
        settings.alert_email_to,
        settings.alert_email_from,
        settings.alert_smtp_host,
        settings.alert_smtp_port,
        settings.alert_smtp_username,
        settings.alert_smtp_password,
    )


MADE_BY: Mapping[str, Callable[[Settings], Channel]] = {
    "the webhook": lambda settings: Webhook(settings.alert_webhook),
    "the mail": _email,
}
"""Each channel, by its name in `Settings.alert_channels`."""


def channels(settings: Settings) -> Mapping[str, Channel]:
    """The channels that the settings name, by what a sentence calls them."""
    return {name: MADE_BY[name](settings) for name in settings.alert_channels}
