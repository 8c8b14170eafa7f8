"""Files that are refused: before anything is spent, by name, and without a value of theirs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .support import CANARY, DOMAIN_FILE, LOANS, NUMBER, own, refused, run, started

HEADER = "age,purpose,repaid\n"
GOOD = HEADER + "20,car,no\n"

BAD_ROWS: dict[str, tuple[str | bytes, str]] = {
    "semicolons": (f"age;purpose;repaid\n{CANARY};car;no\n", "with semicolons in its name"),
    "tabs": (f"age\tpurpose\trepaid\n{CANARY}\tcar\tno\n", "one column only, with tabs"),
    "no header": (f"{CANARY},car,no\n{NUMBER},house,no\n", "no column 'repaid', the target"),
    "no header, twice": (f"{CANARY},{CANARY},no\n", "columns 1 and 2 have the same name"),
    "utf-16": (f"{GOOD}{CANARY},,\n".encode("utf-16"), "not text in UTF-8"),
    "utf-16 without a mark": (f"{GOOD}{CANARY},,\n".encode("utf-16-le"), "not text in UTF-8"),
    "latin-1": (f"{GOOD}20,c\xe4r{CANARY},no\n".encode("latin-1"), "not text in UTF-8"),
    "longer": (f"{GOOD}20,car,no,{CANARY}\n", "line 3 has 4 cells, the header 3"),
    "shorter": (f"{GOOD}{CANARY}\n", "line 3 has 1 cells, the header 3"),
    "empty line": (f"{GOOD}\n\n{NUMBER},car,no\n", "line 3 has 0 cells, the header 3"),
    "same name": (f"age,age,purpose,repaid\n1,{NUMBER},car,no\n", "columns 1 and 2"),
    "target twice": (f"age,purpose,repaid,repaid\n1,car,no,{CANARY}\n", "columns 3 and 4"),
    "empty": ("", "the file is empty; a header"),
    "blank": ("\n \n"[:1], "the file is empty; a header"),
    "open quote": (f'{GOOD}20,"{CANARY}\n', "line 3 is not CSV; check its quotes"),
    "stray quote": (f'{GOOD}20,"car"{CANARY},no\n', "line 3 is not CSV; check its quotes"),
    "endless cell": (GOOD + CANARY * 30_000, "line 3 is not CSV"),
    "no target": (f"age,purpose\n20,{CANARY}\n", "no column 'repaid', the target, in the header"),
    "no attribute": (f"age,repaid\n{NUMBER},no\n", "column 'purpose' is missing"),
    "third class": (f"{GOOD}20,car,{CANARY}\n", "not one of the classes 'no', 'yes'"),
    "empty class": (f"{GOOD}{NUMBER},car,\n", "not one of the classes 'no', 'yes'"),
    "other case": (f"{GOOD}{NUMBER},car,No\n", "not one of the classes 'no', 'yes'"),
    "no category": (f"{GOOD}20,{CANARY},no\n", "column 'purpose' has values outside its 3 public"),
    "text for a number": (f"{GOOD}{CANARY},car,no\n", "column 'age' must hold numbers"),
    "thousands": (f'{GOOD}"7,{NUMBER}",car,no\n', "without separators of thousands"),
    "underscores": (f"{GOOD}7_{NUMBER},car,no\n", "column 'age' must hold numbers"),
    "hexadecimal": (f"{GOOD}0x1F,car,no\n", "column 'age' must hold numbers"),
    "other digits": (f"{GOOD}\u0663\u0664,car,no\n", "column 'age' must hold numbers"),
    "NaN": (f"{GOOD}NaN,car,no\n", "column 'age' has missing values"),
    "empty number": (f"{GOOD},car,no\n", "column 'age' has missing values"),
    "infinite": (f"{GOOD}1e999,car,no\n", "column 'age' has infinite values"),
}


@pytest.mark.parametrize(("rows", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_rows_are_refused(
    rows: str | bytes, message: str, tmp_path: Path, untrained: list[str]
) -> None:
    words = own(tmp_path, rows)
    refused(run(*words), "DomainError: rows: ", message)
    # The same as public rows: what is wrong with them is found before the private ones are spent.
    bad = tmp_path / "bad.csv"
    (tmp_path / "rows.csv").rename(bad)
    own(tmp_path)
    refused(run(*words, "--public-test", str(bad)), "DomainError: public_test: ", message)
    assert untrained == []


# What a draft can be made of is ordinary: it is the domain that these rows do not fit.
FIT_TO_DRAFT = {
    "no attribute", "third class", "other case", "no category", "text for a number", "thousands",
    "underscores", "hexadecimal", "other digits", "NaN", "empty number", "infinite", "no header",
    "no target",
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_ROWS)
def test_no_draft_of_a_file_that_is_no_table(name: str, tmp_path: Path) -> None:
    rows, message = BAD_ROWS[name]
    words = ("domain", own(tmp_path, rows)[1])
    if name in FIT_TO_DRAFT:
        assert run(*words).exit_code == 0
    elif name == "empty class":
        refused(run(*words, "--target", "repaid"), "column 'repaid' has empty cells")
    else:
        refused(run(*words), "DomainError: rows: ", message)


BAD_DOMAINS: dict[str, tuple[str | bytes, str]] = {
    "not confirmed": (
        DOMAIN_FILE.replace("= true", "= false").replace("car", CANARY),
        "not confirmed. Check from public knowledge",
    ),
    "not quite confirmed": (DOMAIN_FILE.replace("= true", '= "true"'), "not confirmed"),
    "one": (DOMAIN_FILE.replace("= true", "= 1"), "not confirmed"),
    "not confirmed and odd": (f'{CANARY} = "{CANARY}"', "key 'confirmed_public' is missing"),
    "confirmation misspelt": (
        DOMAIN_FILE.replace("confirmed_public", "confirmed_publc"),
        "unknown key 'confirmed_publc' in its place",
    ),
    "confirmed too late": (
        DOMAIN_FILE.replace("confirmed_public = true", "") + "confirmed_public = true\n",
        "write 'confirmed_public = true' on its first line",
    ),
    "not TOML": (DOMAIN_FILE + f"{CANARY}\n", "not TOML, at line 14, column 7"),
    "cut": (DOMAIN_FILE[:-4], "not TOML, at end of document"),
    "latin-1": (DOMAIN_FILE.replace("car", "c\xe4r").encode("latin-1"), "not text in UTF-8"),
    "rows": (LOANS + CANARY, "not TOML, at line 1, column 4"),
    "misspelt target": (DOMAIN_FILE.replace("[target]", "[taget]"), "did you mean 'target'?"),
    "misspelt classes": (DOMAIN_FILE.replace("classes", "clases"), "did you mean 'classes'?"),
    "misspelt edges": (DOMAIN_FILE.replace("edges", "egdes"), "did you mean 'edges'?"),
    "misspelt categories": (
        DOMAIN_FILE.replace("categories", "catgories"),
        "attributes[0]: unknown key 'catgories' (did you mean 'categories'?)",
    ),
    "both kinds": (DOMAIN_FILE + "edge = 3\n", "unknown key 'edge' (did you mean 'edges'?)"),
    "no attributes": (DOMAIN_FILE.split("[[")[0], "key 'attributes' is missing"),
    "empty attributes": ("confirmed_public = true\nattributes = []", "needs at least one"),
    "half a target": (DOMAIN_FILE.replace('column = "repaid"', ""), "key 'column' is missing"),
    "target is a number": (DOMAIN_FILE.replace('"repaid"', "3"), "must be the name of a column"),
    "class is a number": (DOMAIN_FILE.replace('"yes"', "1"), "need strings (write '1' for 1)"),
    "one class": (DOMAIN_FILE.replace(', "yes"', ""), "two labels, negative first"),
    "same class": (DOMAIN_FILE.replace('"no"', '"yes"'), "two distinct labels"),
    "classes are text": (DOMAIN_FILE.replace('["no", "yes"]', '"no"'), "classes must be a list"),
    "edges fall": (DOMAIN_FILE.replace("25,", "50,"), "edges of 'age': must be strictly"),
    "target is an attribute": (
        DOMAIN_FILE.replace('"repaid"', '"purpose"'),
        "target: 'purpose' is among the attributes",
    ),
    "blanks": (DOMAIN_FILE.replace('"car"', '"car "'), "'car ' has blanks around it"),
    "a million categories": (
        DOMAIN_FILE.replace('"car"', ",".join(f'"{i}"' for i in range(10_000))),
        "10,002 categories, more than 10,000; group them",
    ),
}


@pytest.mark.parametrize(("domain", "message"), BAD_DOMAINS.values(), ids=BAD_DOMAINS)
def test_domain_files_are_refused(
    domain: str | bytes, message: str, tmp_path: Path, untrained: list[str]
) -> None:
    refused(run(*own(tmp_path, domain=domain)), "Error: ", message)
    assert untrained == []
    if "among the attributes" not in message:
        refused(run("plan", "train", "--domain", str(tmp_path / "domain.toml")), message)


def test_paths_that_are_none(tmp_path: Path, untrained: list[str]) -> None:
    words = own(tmp_path)
    gone, folder = str(tmp_path / "gone"), str(tmp_path)
    for path, reason in ((gone, "there is no such file"), (folder, "it is a folder")):
        refused(run("train", path, *words[2:]), f"rows: cannot read {path}: {reason}")
        refused(run(*words[:3], path), f"domain: cannot read {path}: {reason}")
        refused(run(*words, "--public-test", path), f"public_test: cannot read {path}: {reason}")
        refused(run("domain", path), f"rows: cannot read {path}: {reason}")
        refused(run("plan", "train", "--domain", path), f"domain: cannot read {path}: {reason}")
    assert untrained == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads anything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    words = own(tmp_path)
    (tmp_path / "rows.csv").chmod(0)
    refused(run(*words), "rows: cannot read", "you may not read it")


def test_public_rows_must_be_other_rows(tmp_path: Path, untrained: list[str]) -> None:
    words = own(tmp_path)
    link, empty = tmp_path / "link.csv", tmp_path / "empty.csv"
    link.symlink_to(words[1])
    empty.write_text(HEADER, encoding="utf-8")
    for path in (words[1], str(link)):
        refused(run(*words, "--public-test", path), "public_test: this is the file of private")
    refused(run(*words, "--public-test", str(empty)), "public_test: there are no rows")
    assert untrained == []


def test_public_rows_must_be_other_rows_than_those_on_standard_input(tmp_path: Path) -> None:
    words = own(tmp_path)
    path = words[1]
    with open(path, encoding="utf-8") as rows:
        result = started("train", "-", *words[2:], "--public-test", path, stdin=rows)
    assert result.returncode == 1
    assert "public_test: this is the file of private rows" in result.stderr
    assert result.stdout == ""


def test_an_empty_target_is_none(tmp_path: Path, untrained: list[str]) -> None:
    refused(run(*own(tmp_path), "--target", ""), "target: not in the domain file")
    assert untrained == []
