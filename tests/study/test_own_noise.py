"""A noise in a custom file: in a study, in other processes, in its results and in the digests of its cells."""

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.games import NOISES, Noise, parse_noise
from coebl.study import Results, StudyError, read_study, run
from sources import WOBBLE
from study_runs import runs_of
from study_texts import exp3_study


def written(folder, noise="wobble.py:Wobble:width=3", code=WOBBLE):
    folder.mkdir(exist_ok=True)
    (folder / "wobble.py").write_text(code)
    (folder / "study.toml").write_text(exp3_study(f'noise = "{noise}"', 'metrics = ["regret"]'))
    return folder / "study.toml"


def test_a_study_plays_with_it_in_other_processes(tmp_path):
    path = written(tmp_path / "a", noise="wobble.py:Wobble:width=[1,3]")
    assert run(read_study(path), tmp_path / "out", workers=2, quiet=True).finished == 2
    results = Results(tmp_path / "out")
    wide, narrow = (
        runs_of(results, "rps", "exp3", "exp3", "regret", noise=f"wobble.py:Wobble{width}").values[-1]
        for width in (":width=3", "")
    )
    assert np.all(wide != narrow)
    changed = run(read_study(written(tmp_path / "a", code=WOBBLE + "\n")), tmp_path / "out", workers=1, quiet=True)
    assert changed.finished == 1
    assert "made from wobble.py, which has changed since" in changed.notes[0]


def test_the_digest_depends_on_the_content_of_the_file_and_not_on_its_place(tmp_path):
    first, elsewhere, changed = (
        read_study(written(tmp_path / folder, code=code)).cells[0].digest()
        for folder, code in (("a", WOBBLE), ("b", WOBBLE), ("c", WOBBLE.replace("1.0", "2.0")))
    )
    assert first == elsewhere != changed


def test_a_mistake_in_it_is_reported_with_its_line(tmp_path):
    path = written(tmp_path / "a", code=WOBBLE.replace("self.width / 2, size", "self.breadth, size"))
    outcome = run(read_study(path), tmp_path / "out", workers=1, quiet=True)
    [(cause, count)] = outcome.causes.items()
    assert count == 1
    assert "wobble.py, line 8: AttributeError" in cause


@pytest.mark.parametrize("noise", ["wobble.py:Wobbel", "wobble.py:dataclass", "elsewhere.py:Wobble"])
def test_what_is_not_a_noise_is_rejected(tmp_path, noise):
    with pytest.raises(StudyError) as caught:
        read_study(written(tmp_path / "a", noise=noise))
    [mistake] = caught.value.mistakes
    assert "line 7, noise: " in mistake


def test_one_that_is_written_in_a_session_goes_by_the_name_of_its_class():
    class Silent(Noise):
        def draw(self, random, size):
            return np.zeros(size)

    assert str(Silent()) == "Silent"
    with pytest.raises(InputError, match="unknown noise 'Silent'"):
        parse_noise("Silent")


def test_one_that_registers_itself_goes_by_its_file_so_that_workers_find_it(tmp_path, monkeypatch):
    monkeypatch.setattr(NOISES, "_entries", dict(NOISES._entries))  # it is not left there for other tests
    code = WOBBLE.replace("import Noise", "import NOISES, Noise").replace("@data", '@NOISES.add("wobble")\n@data')
    path = written(tmp_path / "a", code=code)
    [noise] = {cell.noise for cell in read_study(path).cells}
    assert noise.endswith("wobble.py:Wobble:width=3")
    outcome = run(read_study(path), tmp_path / "out", workers=2, quiet=True)
    assert (outcome.finished, outcome.causes) == (1, {})
    assert Results(tmp_path / "out").records()[0].noise == "wobble.py:Wobble:width=3"
    changed = run(read_study(written(tmp_path / "a", code=code + "\n")), tmp_path / "out", workers=1, quiet=True)
    assert (changed.finished, changed.causes) == (1, {})
