"""Drivers in WebAssembly: descents and flows, from record to record."""

from attnflow.browser.drivers.control import CELLS as CELLS
from attnflow.browser.drivers.control import Memory as Memory
from attnflow.browser.drivers.descent import descent as descent
from attnflow.browser.drivers.flow import FlowDriver as FlowDriver
from attnflow.browser.drivers.flow import Tableau as Tableau
