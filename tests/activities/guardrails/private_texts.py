"""Fifty texts with private values in them, as goals, results and errors have them; all values are invented."""

# ruff: noqa: RUF001 - wide signs are among what is looked for

from activities.guardrails.private import PrivateKind

SECRET, EMAIL, IBAN = PrivateKind.SECRET, PrivateKind.EMAIL, PrivateKind.IBAN
CARD, ID, PHONE = PrivateKind.CARD, PrivateKind.NATIONAL_ID, PrivateKind.PHONE

_PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Q\n"
    "-----END RSA PRIVATE KEY-----"
)
_JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

PRIVATE_TEXTS: tuple[tuple[str, tuple[tuple[PrivateKind, str], ...]], ...] = (
    ("Write to alice@example.com about the order.", ((EMAIL, "alice@example.com"),)),
    ("mailto:bob.smith+games@mail.example.co.uk?subject=hi", ((EMAIL, "bob.smith+games@mail.example.co.uk"),)),
    ("请把报告发给li.wei@example.cn谢谢", ((EMAIL, "li.wei@example.cn"),)),
    ("<carol_99@example.org> wrote: see you", ((EMAIL, "carol_99@example.org"),)),
    ("a@example.com,b@example.com", ((EMAIL, "a@example.com"), (EMAIL, "b@example.com"))),
    ("josé@exámple.com answered", ((EMAIL, "josé@exámple.com"),)),
    ("wide: dave＠example.com", ((EMAIL, "dave＠example.com"),)),
    ("Call +1 415-555-2671 today", ((PHONE, "+1 415-555-2671"),)),
    ("Call (415) 555-2671 today", ((PHONE, "(415) 555-2671"),)),
    ("415-555-2671 or 415.555.2672", ((PHONE, "415-555-2671"), (PHONE, "415.555.2672"))),
    ("London: +44 20 7946 0958, at nine", ((PHONE, "+44 20 7946 0958"),)),
    ("London 020 7946 0958", ((PHONE, "020 7946 0958"),)),
    ("Mon numéro : 06 12 34 56 78.", ((PHONE, "06 12 34 56 78"),)),
    ("Mon numéro : 06.12.34.56.78", ((PHONE, "06.12.34.56.78"),)),
    ("Büro 030 901820, Zimmer 4", ((PHONE, "030 901820"),)),
    ("mobile 0151 23456789", ((PHONE, "0151 23456789"),)),
    ("手机13800138000，下午联系", ((PHONE, "13800138000"),)),
    ("Ring 138 0013 8000", ((PHONE, "138 0013 8000"),)),
    ("电话：13800138000", ((PHONE, "13800138000"),)),
    ("0086 138 0013 8000 after six", ((PHONE, "0086 138 0013 8000"),)),
    ("phone: 5552671", ((PHONE, "5552671"),)),
    ("São Paulo (11) 98765-4321", ((PHONE, "(11) 98765-4321"),)),
    ("Paid with 4111 1111 1111 1111 yesterday", ((CARD, "4111 1111 1111 1111"),)),
    ("card=5555555555554444;", ((CARD, "5555555555554444"),)),
    ("Amex 3782-822463-10005", ((CARD, "3782-822463-10005"),)),
    ("卡号6222021234567890128已绑定", ((CARD, "6222021234567890128"),)),
    ("4111-1111-1111-1111 exp 12/27 cvc 123", ((CARD, "4111-1111-1111-1111"),)),
    ("Transfer to DE89 3704 0044 0532 0130 00 please", ((IBAN, "DE89 3704 0044 0532 0130 00"),)),
    ("GB29NWBK60161331926819", ((IBAN, "GB29NWBK60161331926819"),)),
    ("iban fr14 2004 1010 0505 0001 3m02 606", ((IBAN, "fr14 2004 1010 0505 0001 3m02 606"),)),
    ("SSN 536-22-1234", ((ID, "536-22-1234"),)),
    ("social security number 536221234", ((ID, "536221234"),)),
    ("身份证11010519491231002X有效", ((ID, "11010519491231002X"),)),
    ("NINO AB 12 34 56 C", ((ID, "AB 12 34 56 C"),)),
    ("NIR 2 95 10 99 126 111 93", ((ID, "2 95 10 99 126 111 93"),)),
    ("codice RSSMRA85T10A562S", ((ID, "RSSMRA85T10A562S"),)),
    ("DNI 12345678Z, NIE X1234567L", ((ID, "12345678Z"), (ID, "X1234567L"))),
    ("BSN: 111222333", ((ID, "111222333"),)),
    ("Steuer-ID 86095742719", ((ID, "86095742719"),)),
    ("PAN ABCPE1234F, Aadhaar 2341 2341 2346", ((ID, "ABCPE1234F"), (ID, "2341 2341 2346"))),
    ("CPF 529.982.247-25", ((ID, "529.982.247-25"),)),
    ("passport C01234567", ((ID, "C01234567"),)),
    ("key sk-proj-abcdefghij0123456789", ((SECRET, "sk-proj-abcdefghij0123456789"),)),
    ("ghp_0123456789abcdefghijABCDEFGHIJ012345 leaked", ((SECRET, "ghp_0123456789abcdefghijABCDEFGHIJ012345"),)),
    ("AKIAIOSFODNN7EXAMPLE", ((SECRET, "AKIAIOSFODNN7EXAMPLE"),)),
    (f"token {_JWT}!", ((SECRET, _JWT),)),
    ("Authorization: Bearer abcdef0123456789abcdef", ((SECRET, "abcdef0123456789abcdef"),)),
    (f"use this:\n{_PEM}\nthanks", ((SECRET, _PEM),)),
    ("password=hunter2! and api_key: 'Zx9-aaaa-bbbb'", ((SECRET, "hunter2!"), (SECRET, "Zx9-aaaa-bbbb"))),
    ("postgres://app:s3cretpw@db.example.com/x", ((SECRET, "s3cretpw"),)),
)
"""Text, and the private values in it in their order."""

HARMLESS = (
    "Order 20261130-4711 of 2026-11-30T10:21:09.123456+00:00 is paid",
    "order 415-555-2671",
    "invoice no. 0151 23456789",
    "Version 10.0.19045.4412, build 190454412",
    "192.168.100.200 and 10.0.0.1:8080, fe80::1ff:fe23:4567:890a",
    "epoch 1764498069123 ms, 1764498069 s",
    "$1,234,567.89 for 12.99 each, EUR 1.234.567,89",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "ISBN 978-3-16-148410-0, EAN 4006381333931",
    "lat 52.520008, lon 13.404954; 1.23456789e10",
    "10 000 000 of 1 000 000 000 people",
    "logo@2x.png, git@github.com:org/repo.git, react@18.2.0, @alice",
    "password: required; the token is optional; secret = None",
    "export PASSWORD=$DB_PASSWORD api_key=<your key>",
    "password=own.password, secret=re.compile('x'), api_key=api_key, token=unquote(text)",
    "The key is to be patient, and the password is a word",
    "3 x 4 = 12, 7/8, 30.11.2026 10:30:00, 11/30/2026",
    "1234 5678 9012 3456 is no card",
    "<EMAIL_3f9a2c41> and <PHONE_12345678>",
    "tracking number 123456789012",
    "pi is 3.14159265358979",
    "ratio 16:9, 1920x1080, 60 Hz, model 4111111111111112",
)
"""Texts without any, that look as if."""
