"""Forms: what holds the state of training, and moves it exactly."""

from attnflow.models.forms.base import PARTS as PARTS
from attnflow.models.forms.base import AbstractForm as AbstractForm
from attnflow.models.forms.base import AbstractFrame as AbstractFrame
from attnflow.models.forms.base import AbstractNeurons as AbstractNeurons
from attnflow.models.forms.base import AbstractPart as AbstractPart
from attnflow.models.forms.base import AbstractRows as AbstractRows
from attnflow.models.forms.base import AbstractScores as AbstractScores
from attnflow.models.forms.base import Form as Form
from attnflow.models.forms.base import SelfScores as SelfScores
from attnflow.models.forms.base import State as State
from attnflow.models.forms.choice import FORMS as FORMS
from attnflow.models.forms.choice import build as build
from attnflow.models.forms.choice import choose as choose
from attnflow.models.forms.choice import drawn_weights as drawn_weights
from attnflow.models.forms.choice import is_sparse as is_sparse
from attnflow.models.forms.column_maps import ColumnPlan as ColumnPlan
from attnflow.models.forms.column_maps import widest as widest
from attnflow.models.forms.coordinates import CoordinateForm as CoordinateForm
from attnflow.models.forms.frames import basis_of as basis_of
from attnflow.models.forms.frames import frames_of as frames_of
from attnflow.models.forms.initial import Initial as Initial
from attnflow.models.forms.initial import axes_of as axes_of
from attnflow.models.forms.initial import check_weights as check_weights
from attnflow.models.forms.initial import open_shapes as open_shapes
from attnflow.models.forms.initial_chains import Chain as Chain
from attnflow.models.forms.initial_chains import Neurons as Neurons
from attnflow.models.forms.initial_coordinates import (
    COORDINATE_FORMS as COORDINATE_FORMS,
)
from attnflow.models.forms.initial_coordinates import column_plan as column_plan
from attnflow.models.forms.initial_values import AbstractValues as AbstractValues
from attnflow.models.forms.initial_values import ClassMeans as ClassMeans
from attnflow.models.forms.initial_values import Vector as Vector
from attnflow.models.forms.lift import lift as lift
from attnflow.models.forms.lift import lift_refusal as lift_refusal
from attnflow.models.forms.quotient import AbstractSymmetry as AbstractSymmetry
from attnflow.models.forms.quotient import symmetry_of as symmetry_of
from attnflow.models.forms.tokens import TokenForm as TokenForm
