"""The documentation site: pages by hand, pages from the ledger, one folder to build.

    python -m tools.documentation          # stage everything into build/docs
    mkdocs build --strict                  # build/docs → site

`make docs` does both. Staging copies `docs`, adds the pages that are generated (one per
paper, the reference, the gallery, the index of decisions) and the files outside of
`docs` to which pages link, so that MkDocs, or another program that reads `mkdocs.yml`,
needs no plugin of ours and the site needs no network.
"""
