"""`cw hub store`: the object store, for the operator."""

from __future__ import annotations

import click

from cw.errors import UsageError
from cw_hub.cli.options import patiently, waiting, with_settings
from cw_hub.operation.settings import HubSettings
from cw_hub.store.buckets import bucket_of, make_bucket


@click.group()
def store() -> None:
    """Create the bucket of the object store."""


@store.command()
@with_settings
@waiting
def create(settings: HubSettings, wait: float) -> None:
    """Create the bucket in CW_STORE_URL, unless it exists.

    The credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must allow that.
    """
    if not settings.store_url:
        raise UsageError("a store in a folder has no bucket: set CW_STORE_URL=s3://bucket/prefix")
    is_new = patiently(lambda: make_bucket(settings.store_url), wait)
    name = bucket_of(settings.store_url)
    click.echo(f"created bucket {name}" if is_new else f"bucket {name} exists already")
