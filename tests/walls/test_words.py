"""Does the repository keep to itself what is nobody else's business, and finish what it starts?"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from tests.walls.files import our_texts

# Names of vendors, products and registries that must not be written here; not even in this file,
# so each is kept as its length and the beginning of its SHA-256.
UNSPOKEN = {
    4: {"cd88a6fb14237c16"},
    5: {"01a4539fd0d120ff"},
    6: {"70e1f69c6558ba6d", "d41c891abb532f29"},
    8: {"9c559e300b44e396", "e96f185f0128dc45"},
    9: {"ec53b05ca72354dd"},
    11: {"ba20768a02ee5327"},
    12: {"2960ad205cb64ff3", "2c7860bff0337a14", "cf27035d75fd41ac"},
    13: {"035f3a76646753a1", "6548c717c2ecafcb"},
}
LETTERS = re.compile(r"[a-zåäö]+")
# Put together here, so that this file is no offender itself.
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK")) + r")\b")
OF_THIS_MACHINE = re.compile(
    r"(?<![\w.$}~-])/(" + "|".join(("ro" + "ot", "wo" + "rk", "ho" + "me")) + r")/\w"
)
IMAGE = re.compile(r"^(?:FROM|\s*image:)\s+(\S+)", re.MULTILINE)
HOST = re.compile(r"https?://(?:[^\s/@\"']*@)?([a-z0-9][a-z0-9.-]*)")
NOBODYS_HOST = re.compile(r"[a-z0-9-]+|127\.0\.0\.1|www\.w3\.org|(.*\.)?(example(\.com|\.org)?|invalid|test)")


def test_no_vendor_product_or_registry_is_named() -> None:
    assert [f"{name}: {word}" for name, text in our_texts() for word in _unspoken(text)] == []


def test_nothing_is_left_to_be_finished_later() -> None:
    assert [f"{name}: {found}" for name, text in our_texts() for found in UNFINISHED.findall(text)] == []


def test_no_path_of_somebodys_machine_is_written_down() -> None:
    assert [f"{name}: {found}" for name, text in our_texts() for found in OF_THIS_MACHINE.findall(text)] == []


def test_no_host_is_named_but_nobodys() -> None:
    named = [(name, host) for name, text in our_texts() for host in HOST.findall(text.lower())]
    assert [(name, host) for name, host in named if not NOBODYS_HOST.fullmatch(host)] == []


def test_no_image_names_the_registry_it_comes_from() -> None:
    images = [(name, image) for name, text in our_texts() for image in IMAGE.findall(text)]
    assert [(name, image) for name, image in images if "." in image.partition("/")[0] and "/" in image] == []


def _unspoken(text: str) -> Iterator[str]:
    for word in sorted(set(LETTERS.findall(text.lower()))):
        for length, digests in UNSPOKEN.items():
            for start in range(len(word) - length + 1):
                if _digest(word[start : start + length]) in digests:
                    yield word


def _digest(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()[:16]
