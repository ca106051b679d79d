"""What Moodle calls the columns of its grading worksheet, in several languages.

Source: Moodle's language packs (download.moodle.org/langpack), of each language the strings
assign: recordid, maxgrade, gradecanbechanged, lastmodifiedsubmission, submissionteam, defaultteam,
participant; moodle: fullname, email, idnumber, gradenoun, no; assignfeedback_comments: pluginname.
mod/assign/gradingtable.php decides which columns there are. A language is left out if the times in
a worksheet could be misread: those with "AM" and "PM" in letters of their own.

Tested in tests/gradekit/roster/test_moodle_words.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Words:
    """One language's words, without capitals; the first is today's, others were used before.

    Attributes:
        identifier: "Participant 7101"; the number belongs to the assignment.
        submitted: when it was handed in.
        locked: whether the grade can be changed; a cell holds `no` if not.
        group: of an assignment for groups.
        hidden: the name that everyone has if names are hidden.
        no_group: the name of the group of those who have none.
    """

    identifier: tuple[str, ...]
    name: tuple[str, ...]
    email: tuple[str, ...]
    sis_id: tuple[str, ...]
    grade: tuple[str, ...]
    most: tuple[str, ...]
    locked: tuple[str, ...]
    submitted: tuple[str, ...]
    comment: tuple[str, ...]
    group: tuple[str, ...]
    no: str
    hidden: str
    no_group: str

    def columns(self, there: Mapping[str, str]) -> dict[str, str]:
        """By field, the column of a table.

        Args:
            there: the table's columns by their names without capitals.
        """
        return {
            field.name: there[found]
            for field in fields(self)
            if isinstance(words := getattr(self, field.name), tuple)
            and (found := next((word for word in words if word in there), None))
        }


LANGUAGES: Mapping[str, Words] = {
    "English": Words(
        ("identifier",), ("full name",), ("email address",), ("id number",), ("grade",),
        ("maximum grade",), ("grade can be changed",), ("last modified (submission)",),
        ("feedback comments",), ("group",), "no", "participant", "default group",
    ),
    "German": Words(
        ("id", "id-nummer der person"), ("vollständiger name",), ("e-mail-adresse",),
        ("id-nummer", "matrikelnummer"), ("bewertung",), ("bestwertung",),
        ("bewertung kann geändert werden",), ("zuletzt geändert (abgabe)",),
        ("feedback als kommentar",), ("gruppe",), "nein", "teilnehmer/in", "standard-gruppe",
    ),
    "French": Words(
        ("identifiant",), ("nom complet",), ("adresse de courriel",),
        ("numéro d’identification", "numéro d'identification"), ("note",), ("note maximale",),
        ("la note peut être modifiée",), ("dernière modification (travail remis)",),
        ("feedback par commentaires", "commentaires"), ("groupe",), "non", "participant",
        "groupe par défaut",
    ),
    "Spanish": Words(
        ("identificador",), ("nombre completo",), ("dirección de correo",), ("número de id",),
        ("calificación",), ("calificación máxima",), ("la calificación puede ser cambiada",),
        ("última modificación (entrega)",), ("comentarios de retroalimentación",), ("grupo",),
        "no", "participante", "grupo predeterminado",
    ),
    "Catalan": Words(
        ("identificador",), ("nom complet",), ("adreça electrònica",), ("número id",),
        ("qualificació",), ("qualificació màxima",), ("es pot canviar la qualificació",),
        ("darrera modificació (tramesa)",), ("comentaris de retroacció.",), ("grup",), "no",
        "participant", "grup per defecte",
    ),
    "Italian": Words(
        ("identificativo",), ("nome",), ("indirizzo email",), ("codice identificativo",),
        ("valutazione",), ("valutazione massima",), ("la valutazione può essere cambiata",),
        ("ultima modifica (consegna)",), ("commenti",), ("gruppo",), "no", "partecipante",
        "gruppo di default",
    ),
    "Dutch": Words(
        ("identificatie",), ("volledige naam",), ("e-mailadres",), ("nummer (id)",), ("cijfer",),
        ("maximaal cijfer",), ("het cijfer kan gewijzigd worden",),
        ("laatst gewijzigd (inzending)",), ("feedback tekstvak",), ("groep",), "nee", "deelnemer",
        "standaard groep",
    ),
    "Portuguese": Words(
        ("identificador",), ("nome completo",), ("e-mail",), ("número de identificação (id)",),
        ("avaliação",), ("nota máxima",), ("a nota pode ser alterada.",),
        ("última atualização (submissão)",), ("comentários de feedback",), ("grupo",), "não",
        "participante", "grupo predefinido",
    ),
    "Romanian": Words(
        ("identificator",), ("nume complet",), ("adresa de e-mail",), ("număr id",), ("notă",),
        ("notă maximă",), ("nota poate fi schimbată",), ("ultima modificare (a răspunsului)",),
        ("comentarii de feedback",), ("grup",), "nu", "participant", "grup implicit",
    ),
    "Swedish": Words(
        ("identifierare",), ("fullständigt namn",), ("e-postadress",), ("id nummer",), ("betyg",),
        ("maxbetyg",), ("betyg kan ändras",), ("senast modifierat (inlämning)",),
        ("återkopplingskommentarer",), ("grupp",), "nej", "deltagare", "standardgrupp",
    ),
    "Russian": Words(
        ("идентификатор",), ("полное имя",), ("адрес электронной почты",),
        ("индивидуальный номер",), ("оценка",), ("максимальная оценка",),
        ("оценка может быть изменена",), ("последнее изменение (ответ)",),
        ("отзыв в виде комментария",), ("группы",), "нет", "участник", "группа по умолчанию",
    ),
}  # fmt: skip


def words_of(headings: Collection[str]) -> Words | None:
    """The language of a grading worksheet; None if it is none, or in another language.

    Args:
        headings: of its columns, without capitals.
    """
    there = {heading: heading for heading in headings}
    found = [
        (len(columns), words)
        for words in LANGUAGES.values()
        if "identifier" in (columns := words.columns(there))
        and {"grade", "submitted"} & set(columns)
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None
