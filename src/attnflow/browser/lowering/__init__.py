"""From jaxprs to loops over one heap."""

from attnflow.browser.lowering import primitives as primitives
from attnflow.browser.lowering.lowering import RULES as RULES
from attnflow.browser.lowering.lowering import Lowering as Lowering
from attnflow.browser.lowering.values import Unsupported as Unsupported
from attnflow.browser.lowering.values import Value as Value
