import pytest

from tests.chromium import browser as browser
from tests.chromium import context as context

pytest.register_assert_rewrite("tests.site.browser.page_checks")
