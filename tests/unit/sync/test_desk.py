"""Do parsed answers ever take more room than there is? What finds none is parsed again when it is needed."""

from __future__ import annotations

from pipelines.normalize.document import read_document
from pipelines.sync.desk import Desk


def test_room_is_taken_until_it_is_given_back() -> None:
    desk = Desk(room=10)
    first, second = desk.take(7), desk.take(4)
    desk.give_back(7)
    assert (first, second, desk.take(10)) == (True, False, True)


def test_a_document_that_forgot_its_values_reads_them_again() -> None:
    document = read_document(b'[{"a": 1}]')
    before = document.value
    document.forget()
    assert document.value == before
    assert document.value is not before
