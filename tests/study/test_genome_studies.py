"""Games of genomes in matches, studies, tournaments and pages, from a user's point of view."""

import polars as pl
import pytest

from coebl import Study
from coebl.games import CountGame
from coebl.study import Results


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("genes")
    Study(
        games=["diagonal:n=[4,30],space=bits", CountGame(lambda k, l: (k - l) % 3 - 1.0, 9, name="cycle")],
        learners=["pbil", "gene-lr"],
        rounds=60,
        seeds=4,
        metrics=["all"],
    ).run(place / "out", workers=1)
    return place / "out"


def test_the_table_of_a_study_does_not_grow_with_the_genes(folder):
    frame = Results(folder).last(["exploitability", "entropy", "disengaged", "mode_exploitability"])
    assert set(frame["game"]) == {"diagonal:n=4,space=bits", "diagonal:n=30,space=bits", "cycle"}
    assert len(frame) == 3 * 4 * 4
    stored = [pl.read_parquet_schema(path) for path in sorted(folder.rglob("*.parquet"))]
    assert len({tuple(sorted(schema)) for schema in stored}) <= 2  # of games with and without a mean policy
    assert max(map(len, stored)) < 25


def test_the_page_shows_games_of_genomes(folder, coebl):
    assert "report.html" in coebl("report", str(folder)).stdout
    page = (folder / "report.html").read_text()
    assert "diagonal:n=30,space=bits" in page
    assert "mode_exploitability" in page


def test_a_tournament(coebl, tmp_path):
    suite = tmp_path / "genes.toml"
    suite.write_text(
        'name = "genes"\nversion = 1\ntitle = "Genes"\ndescription = "Genomes."\nseeds = 4\n'
        'learners = ["pbil", "gene-lr", "uniform"]\n[[parts]]\nrounds = 80\ngames = ["lead:n=6", "coverage:n=5"]\n'
    )
    printed = coebl("tournament", "--suite", str(suite), "--out", str(tmp_path / "out"), "--workers", "1").stdout
    assert "gene-lr" in printed
