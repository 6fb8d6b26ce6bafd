"""What an answer says besides its rows: of its pages, of an error, or that there are none."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from pipelines.normalize.document import ROOT, Json, Object

DEEPEST_NOTHING = 50  # objects in objects that may all be empty
# How services call the list in an envelope when its own name says nothing.
ENVELOPES = frozenset(
    "rows items item data d value values result results list content records entries report reports payload "
    "body response pages".split()
)
# What an envelope says of its pages: a page of nothing but that is an empty one.
_OF_PAGES = ("page", "index", "count", "total", "size", "number", "offset", "limit", "hasmore", "hasnext")
# What stands beside the list in an envelope that is nothing but the list.
_OF_LISTS = frozenset(
    "count total totalcount totalrows totalrowcount totalitems itemcount rowcount length size page pages "
    "pageindex pagesize pagenumber pagecount totalpages offset limit skip take hasmore hasnext next previous "
    "nextpage previouspage".split()
)
_ABOUT_LISTS = frozenset("meta metadata paging pagination links".split())
_ERRORS = frozenset(
    "message error errors errormessage errordescription exceptionmessage detail title messagedetail "
    "description reason".split()
)
_BESIDE_ERRORS = frozenset(
    "status statuscode code errorcode type instance traceid requestid correlationid exceptiontype stacktrace "
    "innerexception modelstate success timestamp path".split()
)
_FAULTS = frozenset(
    "error errors errormessage errordescription exception exceptionmessage exceptiontype stacktrace "
    "innerexception modelstate fault iserror haserror haserrors".split()
)
_SUCCESS = frozenset("success ok issuccess issuccessful successful succeeded".split())
_STATUS = frozenset("status statuscode code".split())
_WELL = frozenset("ok success succeeded completed done 0 200 204".split())
_OF_THE_REQUEST = frozenset("requestid traceid correlationid timestamp path instance".split())
_OF_FORMATS = ("@", "$")  # what formats say of themselves: `@odata.context`, `$id`
_NOTHING: tuple[Json, ...] = (None, "", [], {}, False, 0)


@lru_cache(maxsize=10_000)
def simplified(key: str) -> str:
    """A key without case and separators, so that `TotalRowCount` and `total_row_count` are one."""
    return re.sub(r"[\W_]+", "", key).lower()


def is_of_pages(key: str) -> bool:
    """Whether an envelope speaks of its pages under this key."""
    name = simplified(key)
    return any(word in name for word in _OF_PAGES)


def says_nothing(page: Json, depth: int = 0, *, counts_are_values: bool = False, beside: Json = None) -> bool:
    """Whether a page holds no value, or only what an envelope says of its pages and of its success.

    `counts_are_values` where what looks like a count of pages may be all that a report says; `beside` is a
    value in it that does not count.
    """
    if page is None or page == [] or page is beside:
        return True
    if type(page) is not dict or depth >= DEEPEST_NOTHING:
        return False
    return all(
        _is_well(key, value)
        or simplified(key) in _ABOUT_LISTS
        or (not counts_are_values and is_of_pages(key) and not isinstance(value, dict | list))
        or says_nothing(value, depth + 1, counts_are_values=counts_are_values, beside=beside)
        for key, value in page.items()
    )


def is_nothing(value: Json) -> bool:
    """Whether a value is nothing, or how a service writes that."""
    return value in _NOTHING or (type(value) is str and not value.strip())


def wrapped_list(value: Object) -> str | None:
    """The key of the list in an envelope that says nothing beside it, such as `{"items": [], "count": 0}`."""
    named = keys_of_envelopes(tuple(value))
    if not named:
        return None
    found = [key for key in named if isinstance(value[key], dict | list)]
    found = found or [key for key in named if value[key] is None]
    if len(found) != 1:
        return None
    is_all = all(
        key == found[0]
        or other is None
        or other == []
        or _is_well(key, other)
        or (simplified(key) in _OF_LISTS and not isinstance(other, dict | list))
        or simplified(key) in _ABOUT_LISTS
        for key, other in value.items()
    )
    return found[0] if is_all else None


@lru_cache(maxsize=10_000)
def keys_of_envelopes(keys: tuple[str, ...]) -> list[str]:
    """Those of an object's keys that are what services call the list in an envelope."""
    return [key for key in keys if simplified(key) in ENVELOPES]


def unwrapped(value: Object) -> Object:
    """The object in envelopes that say nothing beside it; one that is in none is itself."""
    while (key := wrapped_list(value)) is not None and type(value[key]) is dict:
        value = value[key]
    return value


def is_hollow(page: Json, names: Collection[str]) -> bool:
    """Whether a page has a place for rows and none in it.

    The place is an empty list, whatever else the page says of itself, or nothing under one of these
    simplified names where it says nothing else in words. A list with anything in it speaks against it, and
    so does a sign of an error.
    """
    if has_error_sign(page):
        return False
    has_place = has_name = has_words = False
    for key, value in _members(page):
        if type(value) is list and value:
            return False
        is_named = simplified(key) in names or simplified(key) in ENVELOPES
        has_place |= value == []
        has_name |= is_named and (value is None or value == {})
        has_words |= type(value) is str and bool(value) and not (_is_well(key, value) or is_of_pages(key))
    return has_place or (has_name and not has_words)


def has_error_sign(page: Json) -> bool:
    """Whether a page says that something went wrong, beside whatever else it holds."""
    for key, value in _members(page):
        name = simplified(key)
        if name in _FAULTS and value not in _NOTHING:
            return True
        if name in _SUCCESS and str(value).lower() in {"false", "0"}:
            return True
        if name == "statuscode" and type(value) is int and value >= 400:
            return True
    return False


def is_an_error(page: Object, known: Collection[str]) -> bool:
    """Whether a page is what services say when something went wrong, whatever its status said.

    So is a list whose only row says that, and has nothing that these rows are documented to have, by its
    simplified name.
    """
    rows = page.get(ROOT)
    only = rows[0] if type(rows) is list and len(rows) == 1 else None
    said, documented = (page, ()) if type(only) is not dict else (only, known)
    keys = {simplified(key) for key in said}
    return bool(keys & _ERRORS) and keys <= (_ERRORS | _BESIDE_ERRORS).difference(documented)


def _is_well(key: str, value: Json) -> bool:
    """Whether a member only says that the request went well, or which one it was."""
    name = simplified(key)
    if key[:1] in _OF_FORMATS and not isinstance(value, dict | list):
        return True
    if name in _SUCCESS:
        return value is True
    if name in _STATUS:
        return str(getattr(value, "text", value)).lower() in _WELL
    return name in _OF_THE_REQUEST and not isinstance(value, dict | list)


def _members(page: Json) -> Iterator[tuple[str, Json]]:
    """Every key with its value, through objects only."""
    waiting = [(page, 0)]
    while waiting:
        one, depth = waiting.pop()
        if type(one) is dict and depth < DEEPEST_NOTHING:
            yield from one.items()
            waiting += [(value, depth + 1) for value in one.values()]
