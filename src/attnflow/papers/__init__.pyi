from .base import SLUGS as SLUGS
from .base import TAKEN as TAKEN
from .base import module_of as module_of
from .base import paper as paper
from .base import papers as papers
from .base import select_papers as select_papers
