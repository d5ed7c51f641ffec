"""Forms: what holds the state of training, and moves it exactly."""

from attnflow.forms.base import PARTS as PARTS
from attnflow.forms.base import AbstractFrame as AbstractFrame
from attnflow.forms.base import AbstractNeurons as AbstractNeurons
from attnflow.forms.base import AbstractPart as AbstractPart
from attnflow.forms.base import AbstractScores as AbstractScores
from attnflow.forms.base import Form as Form
from attnflow.forms.base import SelfScores as SelfScores
from attnflow.forms.base import State as State
from attnflow.forms.choose import FORMS as FORMS
from attnflow.forms.choose import build as build
from attnflow.forms.choose import choose as choose
from attnflow.forms.choose import drawn_weights as drawn_weights
from attnflow.forms.frames import basis_of as basis_of
from attnflow.forms.given_weights import axes_of as axes_of
from attnflow.forms.given_weights import check_weights as check_weights
from attnflow.forms.initial_chain import Chain as Chain
from attnflow.forms.initial_class_means import ClassMeans as ClassMeans
from attnflow.forms.initial_neurons import Neurons as Neurons
from attnflow.forms.initial_values import AbstractValues as AbstractValues
from attnflow.forms.initial_vector import Vector as Vector
from attnflow.forms.initialise import Initial as Initial
from attnflow.forms.lift import lift as lift
from attnflow.forms.lift import lift_refusal as lift_refusal
from attnflow.forms.quotient import AbstractSymmetry as AbstractSymmetry
from attnflow.forms.quotient import symmetry_of as symmetry_of
