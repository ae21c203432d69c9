"""Run by Alembic: it takes the revisions over the connection that it was given."""

from __future__ import annotations

from alembic import context

from cw.hub.store.tables import Base, Moment

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # SQLite cannot change a column: the table is made anew.
    render_as_batch=True,
    # A revision stays what it was, whatever becomes of our types.
    render_item=lambda kind, item, _: (
        "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, Moment) else False
    ),
)
context.run_migrations()
