"""The faulty service, its behaviours and its faults, in one namespace."""

# ruff: noqa: F403
from faqsvc_embed.testing.chaos import *
from faqsvc_embed.testing.chaos.behaviours import *
from faqsvc_embed.testing.chaos.exchange import *
from faqsvc_embed.testing.chaos.faults import *
from tests.support.faults import *
from tests.support.faults.behaviours import *
from tests.support.faults.sizes import *
