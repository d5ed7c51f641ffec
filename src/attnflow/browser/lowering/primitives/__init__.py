"""Rules that lower primitives: importing this registers all of them."""

from attnflow.browser.lowering.primitives import control as control
from attnflow.browser.lowering.primitives import elementwise as elementwise
from attnflow.browser.lowering.primitives import indexing as indexing
from attnflow.browser.lowering.primitives import matrices as matrices
from attnflow.browser.lowering.primitives import pieces as pieces
from attnflow.browser.lowering.primitives import products as products
from attnflow.browser.lowering.primitives import reductions as reductions
from attnflow.browser.lowering.primitives import views as views
