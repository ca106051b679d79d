"""One student's page as a mail, in a file that mail programs and ``sendmail -t`` read (RFC 5322).

Tested in tests/gradekit/returns/test_returns.py.
"""

from __future__ import annotations

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8

from gradekit.feedback.views import Page
from gradekit.roster.students import Student

_TEXT = """\
Hello {name},

the attached page is the feedback on your hand-in for {lab}, {title}. Open it in a browser; it needs
no network.

{course}
"""


def mail_of(student: Student, page: Page, name: str, html: bytes) -> bytes:
    """A message to this student alone, with the page attached; the sender is left open.

    Args:
        name: of the attached file.
    """
    # An address with letters beyond ASCII is right only as it is (RFC 6532), without a code.
    message = EmailMessage(policy=SMTP if student.email.isascii() else SMTPUTF8)
    local, _, domain = student.email.rpartition("@")
    # Without the name: Python's email writes some names as recipients or headers of their own.
    message["To"] = Address("", local, domain)
    message["Subject"] = f"{page.course}: feedback on {page.lab}"
    message["X-Unsent"] = "1"  # some mail programs open the file as a draft then
    text = _TEXT.format(name=student.name, lab=page.lab, title=page.title, course=page.course)
    message.set_content(text)
    message.add_attachment(html, maintype="text", subtype="html", filename=name)
    # The boundary is drawn at random otherwise, and the same page would give other bytes.
    message.set_boundary(f"=={page.lab}-{student.id}==")
    return message.as_bytes()
