"""The reader: from a text of any length to what is to be flown."""

from wayword.language.reader.reader import Reader
from wayword.language.reader.reading import Reading, ReadingKind, Thing

__all__ = ["Reader", "Reading", "ReadingKind", "Thing"]
