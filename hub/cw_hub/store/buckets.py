"""The bucket of an S3 server: created by the operator, or reported missing."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import obstore
import requests
from obstore.exceptions import BaseError

from cw.errors import Failure
from cw_hub.store.objects import StoreAway, away, bucket_at

PATIENCE: Final = 10
"""Timeout of a request to the server, in seconds."""

FIRST_REGION: Final = "us-east-1"
"""The region that a request for a new bucket must not name."""

ELSEWHERE: Final = (
    '<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    "<LocationConstraint>{}</LocationConstraint></CreateBucketConfiguration>"
)


def make_bucket(url: str) -> bool:
    """Create the bucket of `s3://bucket/prefix`, by AWS_...; return whether it is new.

    Raises StoreAway if the server does not answer, Failure if it refuses.
    """
    name = bucket_of(url)
    try:
        link = obstore.sign(bucket_at(f"s3://{name}"), "PUT", "", timedelta(minutes=1))
        answer = requests.put(link, data=body_of_region(), timeout=PATIENCE)
    except (BaseError, OSError) as error:
        raise away(error) from error
    if answer.status_code == 200:
        return True
    if "BucketAlreadyOwnedByYou" in answer.text:
        return False
    if answer.status_code >= 500:
        raise StoreAway(f"the object store does not answer: {answer.status_code}")
    raise Failure(f"cannot create the bucket {name}: {code_of(answer)}")


def bucket_of(url: str) -> str:
    """Return the name of the bucket of `s3://bucket/prefix`."""
    return urlsplit(url).netloc


def body_of_region() -> str:
    """Return the region part of a request for a new bucket."""
    region = os.environ.get("AWS_REGION", FIRST_REGION)
    return "" if region == FIRST_REGION else ELSEWHERE.format(region)


def code_of(answer: requests.Response) -> str:
    """Return the error code of a server's refusal, or its status code without one."""
    return answer.text.partition("<Code>")[2].partition("</Code>")[0] or str(answer.status_code)
