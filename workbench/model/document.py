"""What every document that people write is made of: frozen data that takes no key it does not know."""

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
