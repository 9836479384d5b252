"""Everything the README shows runs."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_code_in_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert "mul" in capsys.readouterr().out


def test_the_commands_in_the_readme_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = set(re.findall(r"make (\w+)", README))
    assert commands >= {"demo", "test", "bench"}
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.M), command


def test_the_files_the_readme_points_to_exist():
    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert targets
    for target in targets:
        assert (ROOT / target).exists(), target
