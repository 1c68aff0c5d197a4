"""A kind of model: its document's fields. Numbers may be formulas over the document's inputs."""

from pydantic import Field

from workbench.api import ModelDocument, Positive, Share


class AmdahlModel(ModelDocument):
    """A program of which a share becomes faster."""

    accelerated_share: Share = Field(description="the share of the time that becomes faster")
    times_faster: Positive = Field(description="how many times faster")
