"""Texts whose places hang on how large their axes come out."""

from collections.abc import Callable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import IdentityTransform


class Placed(Annotation):
    """A text beside its axes that is put in its place whenever it is measured or drawn.

    A figure's layout changes until it is drawn. Whoever asks for it before has it
    computed anew, which takes longer than all drawing.
    """

    place: Callable[[], None] | None = None

    def update_positions(self, renderer: Any) -> None:
        """Matplotlib's hook before it measures or draws the text."""
        if self.place is not None:
            self.place()
        super().update_positions(renderer)


def write_placed(ax: Axes, text: str, xy: tuple[float, float], **look: Any) -> Placed:
    """Write a text at a place in fractions of the axes, outside of them if need be."""
    usual = {"xycoords": "axes fraction", "annotation_clip": False, "clip_on": False}
    written = Placed(text, xy, **(usual | look))
    # Otherwise its offset is taken for data, until it is measured: below 0 on a
    # logarithmic axis, it would be left out of the layout.
    written.set_transform(IdentityTransform())
    ax.add_artist(written)
    return written
