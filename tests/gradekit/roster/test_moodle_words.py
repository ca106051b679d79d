"""A grading worksheet in every language: the grade is filled in, and the time is read."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gradekit.export.csv_text import CsvText
from gradekit.export.moodle import fill_moodle
from gradekit.roster.csv_table import read_table
from gradekit.roster.merge import merge
from gradekit.roster.moodle_words import LANGUAGES, words_of
from gradekit.roster.people import Directory
from gradekit.roster.students import Roster, Student
from gradekit.submissions.times_file import read_times
from tests.helpers.scores import filling_of

ZONE = ZoneInfo("Europe/Zurich")
# As langconfig: strftimedaydatetime writes it in each language.
WRITTEN = {
    "English": "Monday, 4 May 2026, 9:05 PM",
    "German": "Montag, 4. Mai 2026, 21:05",
    "French": "lundi 4 mai 2026, 21:05",
    "Spanish": "lunes, 4 de mayo de 2026, 21:05",
    "Catalan": "dilluns, 4 maig 2026, 21:05",
    "Italian": "lunedì, 4 maggio 2026, 21:05",
    "Dutch": "maandag, 4 mei 2026, 21:05",
    "Portuguese": "segunda-feira, 4 de maio de 2026 às 21:05",
    "Romanian": "luni, 4 mai 2026, 21:05",
    "Swedish": "måndag, 4 maj 2026, 21:05",
    "Russian": "понедельник, 4 мая 2026, 21:05",
}
DECEMBER = {
    "Catalan": "dimarts, 1 desembre 2026, 21:05",
    "Romanian": "marți, 1 decembrie 2026, 21:05",
    "Russian": "вторник, 1 декабря 2026, 21:05",
    "Swedish": "tisdag, 1 december 2026, 21:05",
}


def worksheet(folder: Path, language: str, when: str) -> Path:
    """Ada's row, as gradingtable.php writes it."""
    words = LANGUAGES[language]
    fields = (
        words.identifier, words.name, words.email, ("status",), words.grade, words.most,
        words.locked, words.submitted, words.comment,
    )  # fmt: skip
    path = folder / "grading.csv"
    number = f"{words.hidden.capitalize()} 7101"
    heading = ",".join(f'"{names[0].capitalize()}"' for names in fields)
    row = f'"{number}","Ada Lovelace","ada@uni.example","x","","100,00","?","{when}",""'
    path.write_text(f"{heading}\r\n{row}\r\n", "utf-8-sig")
    return path


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_grade_is_filled_in(language: str, tmp_path: Path):
    path = worksheet(tmp_path, language, "-")
    filled = fill_moodle(CsvText.read(path), filling_of(tmp_path))
    before = path.read_bytes()
    assert filled.data == before.replace(b'"x","",', b'"x","12,50",')


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_locked_grade_stays(language: str, tmp_path: Path):
    path = worksheet(tmp_path, language, "-")
    no = LANGUAGES[language].no.capitalize()
    path.write_text(path.read_text("utf-8-sig").replace('"?"', f'"{no}"'), "utf-8")
    assert fill_moodle(CsvText.read(path), filling_of(tmp_path)).data == path.read_bytes()


@pytest.mark.parametrize(
    ("language", "written", "month", "day"),
    [(language, text, 5, 4) for language, text in WRITTEN.items()]
    + [(language, text, 12, 1) for language, text in DECEMBER.items()],
)
def test_who_and_when(language: str, written: str, month: int, day: int, tmp_path: Path):
    ada = Student("ada", "Ada Lovelace", "ada@uni.example")
    times = read_times([worksheet(tmp_path, language, written)], Directory(Roster((ada,))), ZONE)
    when = datetime(2026, month, day, 21, 5, tzinfo=ZONE)
    by_number, by_name = times.time("x", "Moodle", "7101"), times.time("ada", "Canvas", "")
    assert [found and found.when for found in (by_number, by_name)] == [when, when]
    assert times.people["7101"].email == "ada@uni.example"


def test_a_table_of_ones_own_is_no_worksheet():
    assert words_of(["id", "when"]) is None
    assert words_of(["id", "name", "email"]) is None


def test_three_headings_tell_the_language():
    """What means "no" in a cell depends on it."""
    for language, words in LANGUAGES.items():
        names = [getattr(words, field)[0] for field in ("identifier", "grade", "submitted")]
        assert words_of(names) == words, language


PARTICIPANTS = {
    "English": "First name,Last name,Email address,ID number,Groups,Roles",
    "German": "Vorname,Nachname,E-Mail-Adresse,ID-Nummer,Gruppen,Rollen",
    "French": "Prénom,Nom,Adresse de courriel,Numéro d’identification,Groupes,Rôles",
    "Spanish": "Nombre,Apellido(s),Dirección de correo,Número de ID,Grupos,Roles",
    "Catalan": "Nom,Cognoms,Adreça electrònica,Número ID,Grups,Rols",
    "Italian": "Nome,Cognome,Indirizzo email,Codice identificativo,Gruppi,Ruoli",
    "Dutch": "Voornaam,Achternaam,E-mailadres,Nummer (ID),Groepen,Rollen",
    "Portuguese": "Nome,Apelido,E-mail,Número de identificação (ID),Grupos,Papéis atribuídos",
    "Romanian": "Prenume,Nume de familie,Adresa de e-mail,Număr ID,Grupuri,Roluri",
    "Swedish": "Förnamn,Efternamn,E-postadress,ID nummer,Grupper,Roller",
    "Russian": "Имя,Фамилия,Адрес электронной почты,Индивидуальный номер,Группы,Роли",
}
STUDENT = {"Spanish": "Estudiante", "German": "Teilnehmer/in", "Russian": "Студент"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_list_of_participants_is_imported(language: str, tmp_path: Path):
    path = tmp_path / "participants.csv"
    role = STUDENT.get(language, "Student")
    row = f"Ada,Lovelace,ada@uni.example,15-001,Mon,{role}"
    path.write_text(f"{PARTICIPANTS[language]}\n{row}\n", "utf-8")
    (ada,) = merge(Roster(), read_table(path)).roster
    assert (ada.name, ada.email, ada.sis_id, ada.section) == (
        "Ada Lovelace", "ada@uni.example", "15-001", "Mon",
    )  # fmt: skip
