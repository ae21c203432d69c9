"""Common parts of all tables: their base class, column types and row keys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final, TypeAlias, get_args

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, mapped_column

Json: TypeAlias = Any
"""A JSON value; its shape depends on the column."""


class Moment(TypeDecorator[datetime]):
    """A time in UTC; SQLite stores it without a zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC; raise ValueError if it has no zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


BIG_KEY: Final = BigInteger().with_variant(Integer, "sqlite")
"""An autoincrementing key; SQLite supports that only for INTEGER, which is as large."""

Str2 = Annotated[str, mapped_column(String(2))]

Str10 = Annotated[str, mapped_column(String(10))]

Str16 = Annotated[str, mapped_column(String(16))]

Str24 = Annotated[str, mapped_column(String(24))]

Str32 = Annotated[str, mapped_column(String(32))]

Str40 = Annotated[str, mapped_column(String(40))]

Str60 = Annotated[str, mapped_column(String(60))]

Str64 = Annotated[str, mapped_column(String(64))]

Str80 = Annotated[str, mapped_column(String(80))]

Str120 = Annotated[str, mapped_column(String(120))]

Str200 = Annotated[str, mapped_column(String(200))]

Str254 = Annotated[str, mapped_column(String(254))]

Str500 = Annotated[str, mapped_column(String(500))]

Big = Annotated[int, mapped_column(BigInteger)]

Long = Annotated[str, mapped_column(Text)]

UserId = Annotated[int, mapped_column(ForeignKey("users.id", ondelete="CASCADE"))]

TeamId = Annotated[int, mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))]

GroupId = Annotated[int, mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))]

RoundId = Annotated[int, mapped_column(ForeignKey("rounds.id"))]

BotId = Annotated[int, mapped_column(ForeignKey("bots.id"))]

CompetitionId = Annotated[int, mapped_column(ForeignKey("competitions.id"))]

MatchId = Annotated[int, mapped_column(BIG_KEY, ForeignKey("matches.id"))]


class Base(DeclarativeBase):
    """Base class of all tables of the hub."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {datetime: Moment}


def one_of(column: str, choices: Any) -> CheckConstraint:
    """Return the constraint that a column has one of the values of a `Literal`."""
    values = ", ".join(f"'{value}'" for value in get_args(choices))
    return CheckConstraint(f"{column} IN ({values})", name=column)
