"""Symbols: numbers of a setting, by which set-up is traced as it stands."""

from attnflow.browser.symbols.passage import symbols_pass as symbols_pass
from attnflow.browser.symbols.program import Program as Program
from attnflow.browser.symbols.symbol import Guard as Guard
from attnflow.browser.symbols.symbol import Log as Log
from attnflow.browser.symbols.symbol import Symbol as Symbol
from attnflow.browser.symbols.symbol import is_symbol as is_symbol
from attnflow.browser.symbols.symbol import number as number
