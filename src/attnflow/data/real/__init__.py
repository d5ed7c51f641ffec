"""Data sets that are not drawn but kept in files, each known by its checksum."""

from attnflow.data.real.catalogue import CATALOGUE as CATALOGUE
from attnflow.data.real.catalogue import DataFile as DataFile
from attnflow.data.real.catalogue import DataSet as DataSet
from attnflow.data.real.catalogue import data_set as data_set
from attnflow.data.real.fetching import fetch as fetch
from attnflow.data.real.files import State as State
from attnflow.data.real.files import data_directory as data_directory
from attnflow.data.real.files import place_of as place_of
from attnflow.data.real.files import read as read
from attnflow.data.real.files import state_of as state_of
from attnflow.data.real.mnist import Digits as Digits
from attnflow.data.real.mnist import digits as digits
from attnflow.data.real.wikitext import words as words
