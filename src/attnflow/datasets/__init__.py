"""Data sets that are not drawn but kept in files, each known by its checksum."""

from attnflow.datasets.catalogue import CATALOGUE as CATALOGUE
from attnflow.datasets.catalogue import DataFile as DataFile
from attnflow.datasets.catalogue import DataSet as DataSet
from attnflow.datasets.catalogue import data_set as data_set
from attnflow.datasets.fetching import fetch as fetch
from attnflow.datasets.files import State as State
from attnflow.datasets.files import data_directory as data_directory
from attnflow.datasets.files import place_of as place_of
from attnflow.datasets.files import read as read
from attnflow.datasets.files import state_of as state_of
from attnflow.datasets.mnist import Digits as Digits
from attnflow.datasets.mnist import digits as digits
from attnflow.datasets.wikitext import words as words
