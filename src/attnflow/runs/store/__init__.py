"""Runs on disk: content-addressed, complete or absent, readable without JAX."""

from attnflow.runs.store.errors import StoreError as StoreError
from attnflow.runs.store.errors import StoreWarning as StoreWarning
from attnflow.runs.store.files import export_netcdf as export_netcdf
from attnflow.runs.store.files import read_run_file as read_run_file
from attnflow.runs.store.location import cache_directory as cache_directory
from attnflow.runs.store.location import default_root as default_root
from attnflow.runs.store.store import Store as Store
from attnflow.runs.store.summary import summarise as summarise
