"""Settings of the property tests: no deadline for one example, because machines are busy at times."""

from hypothesis import settings

settings.register_profile("steady", deadline=None, max_examples=100)
settings.load_profile("steady")
