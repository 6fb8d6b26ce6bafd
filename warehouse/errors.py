"""What can go wrong in the warehouse? One family of errors, each a sentence with the next step.

WarehouseError
├── LockTimeout          another process holds the write lock
├── OpenedElsewhere      another program has the working file open
├── DiskFull             no room left
├── NotWritable          a directory or file that must be written cannot be
├── WrongStorage         a file of a DuckDB version that this one cannot read
├── Damaged              a DuckDB file that is not whole
├── LandingDamaged       a landing file that is not what was written
├── LandingMissing       a landing file that is gone
└── NothingToRollBackTo  no kept version of the published file fits
"""

from __future__ import annotations


class WarehouseError(Exception):
    """The warehouse cannot do what it was asked to do; nothing half-done is left behind."""


class LockTimeout(WarehouseError):
    """Another process held the write lock for too long."""


class OpenedElsewhere(WarehouseError):
    """A program that does not take part in the write lock has the working file open."""


class DiskFull(WarehouseError):
    """There is no room left on the disk."""


class NotWritable(WarehouseError):
    """A directory or file that must be written cannot be written."""


class WrongStorage(WarehouseError):
    """The file was written by a version of DuckDB that this one cannot read."""


class Damaged(WarehouseError):
    """The DuckDB file is not whole."""


class LandingDamaged(WarehouseError):
    """A landing file does not hold the bytes that were written."""


class LandingMissing(WarehouseError):
    """A landing file is gone."""


class NothingToRollBackTo(WarehouseError):
    """No kept version of the published file is the one asked for, or none is left."""
