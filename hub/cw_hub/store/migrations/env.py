"""Alembic environment: applies the revisions over the connection it is given."""

from __future__ import annotations

from alembic import context

from cw_hub.store.models import Base, Moment

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # SQLite cannot alter a column, so the table is rebuilt.
    render_as_batch=True,
    # A revision must not change when the types of the models do.
    render_item=lambda kind, item, _: (
        "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, Moment) else False
    ),
)
context.run_migrations()
