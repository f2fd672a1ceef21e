from datetime import timedelta

from openai._models import construct_type
from openai.types.chat import ChatCompletion

from activities.model.completion import Reader
from activities.model.pricing import PriceList
from activities.model.request import ModelRequest
from harness.catalog import ModelCard
from harness.model_choice import ModelRole
from tests.scripted_model import completion

REQUEST = ModelRequest(ModelRole.STEPS, "rules", "goal", 100, timedelta(seconds=5))


def test_lone_surrogates_of_a_server_are_replaced_wherever_they_stand() -> None:
    body = completion("fine \udcad", model="m\ud800", finish="st\udc00op")
    received = construct_type(type_=ChatCompletion, value=body)  # as the client does with what comes from a server

    answer = Reader(ModelCard(name="m"), PriceList("", {})).read(received, REQUEST)

    assert (answer.text, answer.model, answer.finish_reason) == ("fine ?", "m?", "st?op")
