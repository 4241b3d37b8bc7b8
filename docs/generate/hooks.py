"""The hooks of MkDocs: they add the pages that are generated from the package, and report gaps as warnings.

The site is built strictly, so that a warning stops the build.
"""

from __future__ import annotations

import logging
from os.path import relpath
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from coebl.games import GAMES
from coebl.learners import LEARNERS
from coebl.metrics import METRICS
from notebook import notebook_pages
from public import PACKAGES, missing
from reference import pages, typeset_formulas
from repository import linked, rewritten

_GLOSSARY = "glossary.md"
BOOSTS = {_GLOSSARY: 100, "reference/metrics/": 5, "explanation/": 5, "reference/python/": 0.3, "repository/": 0.3}
"""The weights of pages in a search, by the beginning of their path."""
_LOG = logging.getLogger("mkdocs.hooks.coebl")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the navigation."""
    named = str(config.nav)
    others = [path.name for path in sorted(Path(config.docs_dir).glob("*.md")) if f"'{path.name}'" not in named]
    generated: dict[str, list[Any]] = {
        "learners": [{"Learners": _listed("learners", LEARNERS)}],
        "games": [{"Games": _listed("games", GAMES)}],
        "metrics": [{"Metrics": _listed("metrics", METRICS)}],
        "operators": ["reference/noises.md", "reference/evolution.md"],
        "python": [{"Python": [{name: f"reference/python/{name}.md"} for name in PACKAGES]}],
        "others": others,  # the pages of docs/ that are not in the navigation
    }
    config.nav = _filled(config.nav, generated)
    return config


def _listed(plural: str, registry: Any) -> list[Any]:
    folder = f"reference/{plural}"
    return [f"{folder}/index.md", *({entry.title: f"{folder}/{entry.name}.md"} for entry in registry)]


def _filled(nav: Any, generated: dict[str, list[Any]]) -> Any:
    if isinstance(nav, dict):
        return {title: _filled(inner, generated) for title, inner in nav.items()}
    if not isinstance(nav, list):
        return nav
    filled = []
    for item in nav:
        before, mark, what = item.partition("generated: ") if isinstance(item, str) else ("", "", "")
        filled += generated[what] if mark and not before else [_filled(item, generated)]
    return filled


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the files of the repository that pages link to."""
    for line in missing():
        _LOG.warning(line)
    for page in [*pages(), *notebook_pages()]:
        files.append(File.generated(config, page.uri, content=page.content))
    waiting = list(files.documentation_pages())
    while waiting:
        file = waiting.pop()
        for uri, source in linked(file.content_string, file.src_uri):
            if files.get_file_from_path(uri) is None:
                added = _added(config, uri, source)
                files.append(added)
                waiting += [added] * added.is_documentation_page()
    return files


def _added(config: MkDocsConfig, uri: str, source: Path | str) -> File:
    if isinstance(source, str):
        return File.generated(config, uri, content=source)
    return File.generated(config, uri, abs_src_path=str(source))


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Rewrite links to files of the repository to their places on the site; link to the glossary; rank for search."""
    uri = page.file.src_uri
    for start, boost in BOOSTS.items():
        if uri.startswith(start):
            page.meta.setdefault("search", {"boost": boost, "exclude": uri.startswith("repository/results/")})
    glossary = "" if uri == _GLOSSARY else f"\n\n[Words used here]({relpath(_GLOSSARY, Path(uri).parent)}){{.glossary}}"
    return typeset_formulas(rewritten(markdown, uri)) + glossary


def on_post_build(config: MkDocsConfig) -> None:
    """Write the search index as a script too: without it, all scripts fail in a page that is opened as a file."""
    index = Path(config.site_dir, "search", "search_index.json")
    index.with_suffix(".js").write_text(f"var __index = {index.read_text('utf-8')}", "utf-8")
