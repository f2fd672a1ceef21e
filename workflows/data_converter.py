"""How values travel: pydantic JSON without the fields that nobody set, because history pays for every byte."""

import dataclasses

from temporalio.contrib.pydantic import (
    PydanticJSONPlainPayloadConverter,
    ToJsonOptions,
    pydantic_data_converter,
)
from temporalio.converter import CompositePayloadConverter, DataConverter, DefaultPayloadConverter


class LeanPayloadConverter(CompositePayloadConverter):
    """Temporal's default converters with pydantic's JSON, unset fields left out."""

    def __init__(self) -> None:
        """Replace the plain JSON converter, as temporalio.contrib.pydantic does."""
        lean = PydanticJSONPlainPayloadConverter(ToJsonOptions(exclude_unset=True))
        default = DefaultPayloadConverter.default_encoding_payload_converters
        super().__init__(*(lean if c.encoding == lean.encoding else c for c in default))


DATA_CONVERTER: DataConverter = dataclasses.replace(
    pydantic_data_converter, payload_converter_class=LeanPayloadConverter
)
"""The one converter of clients, workers and replayers."""
