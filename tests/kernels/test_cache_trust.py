"""A cache is trusted where it is this user's alone: an entry is machine code that runs as whoever reads it."""

import os
import stat
import tempfile
import warnings

import pytest

import hinge
from hinge.backends import cache, ownership

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders here have no owner and no mode")
Q = [0.3, -0.7]
NAME, CODE = "0" * 64, b"machine code"


@pytest.fixture(autouse=True)
def _unwarned(monkeypatch):
    monkeypatch.setattr(cache, "_warned", set())


@pytest.fixture
def filled(cold):
    """A cache that holds one whole entry."""
    cache.keep(NAME, CODE)
    assert cache.find(NAME) == CODE
    return cold


def said(action):
    """What it gives, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return action(), [str(w.message) for w in caught]


def twice():
    return cache.find(NAME), cache.find(NAME)


def refusal(where, why):
    return (f"the kernel cache {where} is not used: {why}; kernels will be compiled anew in every process.\n"
            "  HINGE_CACHE_DIR names another folder for it, or none where it is empty.")  # fmt: skip


def strange_uid():
    return os.stat("/").st_uid + 4321


# ---- folders


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o1777])
def test_a_folder_others_can_write_is_refused_with_one_warning(filled, mode):
    filled.chmod(mode)
    why = f"others than its owner can write {filled} (mode {mode:04o}), which `chmod go-w` ends"
    assert said(twice) == ((None, None), [refusal(filled, why)])


def test_a_parent_others_can_write_is_refused(tmp_path, filled):
    tmp_path.chmod(0o777)
    why = f"others than its owner can write {tmp_path} (mode 0777), which `chmod go-w` ends"
    assert said(twice) == ((None, None), [refusal(filled, why)])


def test_a_sticky_parent_is_no_danger_to_a_folder_of_ones_own(tmp_path, filled):
    tmp_path.chmod(0o1777)
    assert said(twice) == ((CODE, CODE), [])


def test_everything_works_without_a_refused_cache(filled):
    filled.chmod(0o777)
    before = sorted(filled.iterdir())

    def used():
        arm = hinge.samples.planar_2r()
        arm.mass_matrix(Q)
        return arm.gravity_force(Q).tolist()

    made, told = said(used)
    assert made == pytest.approx(hinge.samples.planar_2r().gravity_force(Q, backend="interpret").tolist(), rel=1e-13)
    assert len(told) == 1
    assert (cache.entries(), cache.clear(), sorted(filled.iterdir())) == ([], 0, before)


def test_a_folder_of_another_user_is_refused(filled, monkeypatch):
    monkeypatch.setattr(os, "geteuid", strange_uid)
    owner = filled.stat().st_uid
    why = f"{filled} belongs to another user (uid {owner}; this one is {strange_uid()})"
    assert said(twice) == ((None, None), [refusal(filled, why)])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives folders away")
@pytest.mark.parametrize("which", ["folder", "parent", "entry"])
def test_root_takes_no_code_from_another_user(tmp_path, filled, which):
    given = {"folder": filled, "parent": tmp_path, "entry": filled / f"{NAME}.kernel"}[which]
    os.chown(given, strange_uid(), -1)
    found, told = said(twice)
    assert found == (None, None)
    assert len(told) == (0 if which == "entry" else 1)


def test_what_a_link_leads_to_is_what_counts(tmp_path, filled, monkeypatch):
    link = tmp_path / "link"
    link.symlink_to(filled)
    monkeypatch.setenv("HINGE_CACHE_DIR", str(link))
    assert said(twice) == ((CODE, CODE), [])
    assert cache.folder() == filled  # and nothing goes through the link again
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    link.unlink()
    filled.rename(open_to_all / "cold")
    link.symlink_to(open_to_all / "cold")
    assert said(twice)[0] == (None, None)


def test_a_link_in_a_folder_others_can_write_is_refused(tmp_path, filled, monkeypatch):
    busy = tmp_path / "busy"
    busy.mkdir()
    (busy / "link").symlink_to(filled)
    busy.chmod(0o777)
    monkeypatch.setenv("HINGE_CACHE_DIR", str(busy / "link"))
    assert said(twice)[0] == (None, None)


def test_a_group_of_one_may_write(filled, monkeypatch):
    filled.chmod(0o770)
    for alone, found in ((True, CODE), (False, None)):
        monkeypatch.setattr(ownership, "alone", lambda gid, alone=alone: alone)
        assert said(lambda: cache.find(NAME))[0] == found


def test_a_folder_is_made_for_its_owner_only_whatever_the_umask(cold):
    before = os.umask(0)
    try:
        cache.keep(NAME, CODE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(cold.stat().st_mode) == 0o700
    assert stat.S_IMODE((cold / f"{NAME}.kernel").stat().st_mode) == 0o600
    assert cache.find(NAME) == CODE


def test_a_folder_of_ones_own_in_the_folder_for_temporary_files_is_a_cache(monkeypatch):
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("HINGE_CACHE_DIR", folder)
        assert said(lambda: cache.keep(NAME, CODE)) == (None, [])
        assert said(twice) == ((CODE, CODE), [])


# ---- entries


@pytest.mark.parametrize("mode", [0o666, 0o602])
def test_an_entry_others_can_write_is_made_anew(filled, mode):
    entry = filled / f"{NAME}.kernel"
    entry.chmod(mode)
    assert said(lambda: cache.find(NAME)) == (None, [])
    assert not entry.exists()


def test_an_entry_that_is_a_link_is_made_anew(tmp_path, filled):
    entry = filled / f"{NAME}.kernel"
    elsewhere = entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(elsewhere)
    assert cache.find(NAME) is None
    assert elsewhere.exists()
    assert not entry.is_symlink()


# ---- no home


HOMELESS = "there is no kernel cache, as this user has no home folder; kernels will be compiled anew in every process."


def unknown(uid):
    raise KeyError(uid)


@pytest.mark.parametrize("told", ["~/.cache/hinge", None])
def test_without_a_home_there_is_a_warning_and_no_cache(tmp_path, monkeypatch, told):
    import pwd

    import platformdirs

    for name in ("HINGE_CACHE_DIR", "HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.chdir(tmp_path)
    if told:  # as earlier versions of platformdirs say
        monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *args, **options: told)
    assert said(lambda: (cache.find(NAME), cache.keep(NAME, CODE), cache.find(NAME))) == (
        (None, None, None),
        [f"{HOMELESS}\n  HINGE_CACHE_DIR names another folder for it, or none where it is empty."],
    )
    assert list(tmp_path.iterdir()) == []
