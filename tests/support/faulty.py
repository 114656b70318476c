"""The faulty service, its behaviours and its faults, in one namespace."""

# ruff: noqa: F403
from tests.support.faults import *
from tests.support.faults.behaviours import *
from tests.support.faults.bodies import *
from tests.support.faults.exchange import *
from tests.support.faults.kinds import *
from tests.support.faults.server import *
