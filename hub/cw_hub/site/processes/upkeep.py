"""The daily chores of a site."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cw_hub.accounts.people import release_names
from cw_hub.accounts.pictures.avatars import unused_pictures
from cw_hub.bots.versions.verbs import unused_uploads
from cw_hub.bots.workshop import tasks
from cw_hub.competitions.format import Format, kinds_of
from cw_hub.matches import replays
from cw_hub.operation.resources import Resources
from cw_hub.operation.upkeep_job import Chores, delete_unnamed, do_chores
from cw_hub.site.formats import FORMATS


def chores_of(formats: Sequence[Format]) -> Chores:
    """Return the daily deletions for a site with these formats."""
    own = {name: chore for format_ in formats for name, chore in format_.chores.items()}
    return {
        "replays": partial(replays.prune, kinds=kinds_of(formats)),
        "strays": partial(delete_unnamed, prefix="replays", unnamed=replays.strays),
        "pictures": partial(delete_unnamed, prefix="avatars", unnamed=unused_pictures),
        "uploads": partial(delete_unnamed, prefix="bots", unnamed=unused_uploads),
        "names of deleted accounts": release_names,
        "runs of drafts": tasks.forget_old,
        **own,
    }


def keep_in_order(resources: Resources, formats: Sequence[Format] = FORMATS) -> None:
    """Run the daily chores once."""
    do_chores(resources, chores_of(formats))
