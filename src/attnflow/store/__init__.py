"""Runs on disk: content-addressed, complete or absent, readable without JAX."""

from attnflow.store.errors import StoreError as StoreError
from attnflow.store.errors import StoreWarning as StoreWarning
from attnflow.store.files import export_netcdf as export_netcdf
from attnflow.store.files import read_run_file as read_run_file
from attnflow.store.location import cache_directory as cache_directory
from attnflow.store.location import default_root as default_root
from attnflow.store.store import Store as Store
from attnflow.store.summary import summarise as summarise
