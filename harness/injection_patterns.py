"""Patterns of injections, as data: what orders to a model look like, in English and in Chinese."""

from harness.injection_appeals import ADDRESSES, NEW_ORDERS, THEFTS
from harness.injection_chinese import CHINESE as CHINESE_ORDERS
from harness.injection_chinese_classes import CHINESE_CLASSES
from harness.injection_overrides import DISCLOSURES, OVERRIDES
from harness.injection_pattern import Pattern
from harness.injection_replacements import AUTHORITY, REPLACEMENTS
from harness.injection_roles import FORGED_TURNS, ROLES
from harness.injection_secrets import HIDDEN_CALLS, LAWLESS_ROLES, SECRETS

ENGLISH = (
    *OVERRIDES, *REPLACEMENTS, *DISCLOSURES, *SECRETS, *ROLES, *LAWLESS_ROLES, *FORGED_TURNS, *ADDRESSES, *NEW_ORDERS,
    *AUTHORITY, *THEFTS, *HIDDEN_CALLS,
)  # fmt: skip

CHINESE = (*CHINESE_ORDERS, *CHINESE_CLASSES)

__all__ = ["CHINESE", "ENGLISH", "Pattern"]
