"""The gallery: figures that are drawn with the site, each with its command."""

import re
import shutil
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.documentation.text import prose

from attnflow.papers.base import paper
from attnflow.site.reproduce import reproduce

# Each is drawn in seconds at the size of `--quick`; those without data sets.
SHOWN = (
    "mixture/overview",
    "mixture/figure4",
    "mixture/stage2-duration",
    "cooccurrence/balancing",
    "signgd/figure1",
    "vit/figure1a",
    "scansnap/figure4-left",
)
_NOTE = (
    "Drawn when this site was built, at the sizes of `--quick`. Without it the same "
    "command draws the figure at the paper's own size, beside the numbers that the "
    "paper prints; `attnflow reproduce` draws all of them. A figure of your own takes "
    "the same parts: [`attnflow.figures`](reference/packages/figures.md)."
)


def gallery_page(out: Path, *, figures: bool) -> str:
    """The page; its pictures are drawn into `out/gallery`."""
    parts = ["# Gallery of figures", _NOTE]
    for target in SHOWN:
        slug, _, id = target.partition("/")
        exhibit = paper(slug).exhibit(id)
        parts += [f"## {prose(exhibit.title)}"]
        if figures:
            parts += [_picture(target, out / "gallery" / slug, exhibit.title)]
        parts += [f"```bash\nattnflow reproduce {target} --quick\n```"]
        parts += [prose(exhibit.caption)]
        parts += [f"From [{slug}](papers/{slug}.md)."]
    return "\n\n".join(parts) + "\n"


def _picture(target: str, folder: Path, title: str) -> str:
    """Both themes of a figure; the site shows the one that fits."""
    slug, _, id = target.partition("/")
    folder.mkdir(parents=True, exist_ok=True)
    text = re.sub(r'[\[\]"]', "", title)
    images = []
    with warnings.catch_warnings(), TemporaryDirectory() as work:
        # A smaller run may leave a stage undetected, which the figure shows.
        warnings.simplefilter("ignore")
        reproduce(target, quick=True, out=work, workers=0)
        for ending, theme in ((".svg", "light"), (".dark.svg", "dark")):
            shutil.copy(Path(work) / f"{id}{ending}", folder)
            images.append(f"![{text}](gallery/{slug}/{id}{ending}#only-{theme})")
    return "\n".join(images)
