from tests.chromium import browser as browser
from tests.chromium import context as context
