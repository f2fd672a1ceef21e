"""Private values as they are not usually written: encoded, spaced, broken, spelled out; all values are invented."""

# ruff: noqa: RUF001 - signs that look alike are what is looked for; the words are invented

from activities.guardrails.private import PrivateKind

SECRET, EMAIL, IBAN = PrivateKind.SECRET, PrivateKind.EMAIL, PrivateKind.IBAN
CARD, ID, PHONE = PrivateKind.CARD, PrivateKind.NATIONAL_ID, PrivateKind.PHONE

_UNSEEN = "\u200b"
DISGUISED: tuple[tuple[str, tuple[tuple[PrivateKind, str], ...]], ...] = (
    ("mailto:ann.lee%40example.com?subject=x", ((EMAIL, "ann.lee%40example.com"),)),
    ("https://x/?email=bob%2540x.io&x=1", ((EMAIL, "bob%2540x.io"),)),
    ("https://x/?email=bob%40priv.io&tel=%2B12125550187", ((EMAIL, "bob%40priv.io"), (PHONE, "%2B12125550187"))),
    ("q=%E7%94%A8%E6%88%B7%40example.com", ((EMAIL, "%E7%94%A8%E6%88%B7%40example.com"),)),
    ("\\u0062ob\\u0040x.io", ((EMAIL, "\\u0062ob\\u0040x.io"),)),
    ("first\\nbob@x.io\\nlast", ((EMAIL, "bob@x.io"),)),
    ("bob&#64;example.com", ((EMAIL, "bob&#64;example.com"),)),
    (f"ann{_UNSEEN}.lee@exam{_UNSEEN}ple.com", ((EMAIL, f"ann{_UNSEEN}.lee@exam{_UNSEEN}ple.com"),)),
    ("用户@example.com", ((EMAIL, "用户@example.com"),)),
    ("李雷@例子.公司 写信", ((EMAIL, "李雷@例子.公司"),)),
    ("пишите: иван.петров@пример.рф", ((EMAIL, "иван.петров@пример.рф"),)),
    ("müller@bücher.de", ((EMAIL, "müller@bücher.de"),)),
    ('"ann lee"@example.com', ((EMAIL, '"ann lee"@example.com'),)),
    ("ann.lee@exam\nple.com", ((EMAIL, "ann.lee@exam\nple.com"),)),
    ("ann.lee@\r\nexample.com", ((EMAIL, "ann.lee@\r\nexample.com"),)),
    ("ann.lee@example.\ncom", ((EMAIL, "ann.lee@example.\ncom"),)),
    ("ann dot lee at example dot com", ((EMAIL, "ann dot lee at example dot com"),)),
    ("bob [at] example [dot] com", ((EMAIL, "bob [at] example [dot] com"),)),
    ("bob(at)example.com", ((EMAIL, "bob(at)example.com"),)),
    ("call +1\u00a0(212)\u00a0555\u20110187", ((PHONE, "+1\u00a0(212)\u00a0555\u20110187"),)),
    ("手机：１３８００１３８０００", ((PHONE, "１３８００１３８０００"),)),
    ("+1-212-555-0187x42", ((PHONE, "+1-212-555-0187x42"),)),
    ("(212) 555-0187 ext. 42", ((PHONE, "(212) 555-0187 ext. 42"),)),
    ("my number: 2125550187", ((PHONE, "2125550187"),)),
    ("call me at 2125550187", ((PHONE, "2125550187"),)),
    ("tel +44 20 7946\n0958", ((PHONE, "+44 20 7946\n0958"),)),
    ("(212) 555-\n0187", ((PHONE, "(212) 555-\n0187"),)),
    ("card 4111.1111.1111.1111", ((CARD, "4111.1111.1111.1111"),)),
    ("Karte 4111_1111_1111_1111", ((CARD, "4111_1111_1111_1111"),)),
    ("4111\u20091111\u20091111\u20091111", ((CARD, "4111\u20091111\u20091111\u20091111"),)),
    ("4111\n1111\n1111\n1111", ((CARD, "4111\n1111\n1111\n1111"),)),
    ("4111 1111\n1111 1111", ((CARD, "4111 1111\n1111 1111"),)),
    ("card number 41111111\n11111111", ((CARD, "41111111\n11111111"),)),
    (f"41{_UNSEEN}11111{_UNSEEN}111111111", ((CARD, f"41{_UNSEEN}11111{_UNSEEN}111111111"),)),
    ("536221235 4111 1111 1111 1111", ((CARD, "4111 1111 1111 1111"),)),
    ("DE89 3704 0044\n0532 0130 00", ((IBAN, "DE89 3704 0044\n0532 0130 00"),)),
    ("身份证 110105 19491231 002X", ((ID, "110105 19491231 002X"),)),
    ("身份证 110105\n19491231002X", ((ID, "110105\n19491231002X"),)),
    ("SSN 536-22-\n1234", ((ID, "536-22-\n1234"),)),
    ("Passport No. C01X00T47", ((ID, "C01X00T47"),)),
    ('{\\"password\\": \\"hunter2x!\\"}', ((SECRET, "hunter2x!"),)),
    ("sk-\nAbCdEfGhIjKlMnOpQrStUvWx1234", ((SECRET, "sk-\nAbCdEfGhIjKlMnOpQrStUvWx1234"),)),
    ("https://x/?token=abcd1234efgh5678", ((SECRET, "abcd1234efgh5678"),)),
    ("Authorization: abcd1234efgh5678", ((SECRET, "abcd1234efgh5678"),)),
    ("Cookie: sid=a1b2c3d4; theme=dark; session=9f8e7d6c5b4a", ((SECRET, "a1b2c3d4"), (SECRET, "9f8e7d6c5b4a"))),
    ("password=abc%26def", ((SECRET, "abc%26def"),)),
)
"""Text, and the private values in it in their order, as they are written there."""

PLAIN = (
    "the cat sat (at) home. Dot com was a boom; look at example dot com",
    "root@server\nsetup.py, react@18\nindex.io",
    "rows:\n4000\n5000\n6000\n7000\n8000",
    "4111\n1111\n1111\n1111\n1111",
    "[4000000000000000, 5200.8282, 4111.1111111111112]",
    "token: gpt-4o-mini, session: 2026-autumn-term, cookie: chocolate_chip",
    "max_tokens=128000, next_page_token, session_count: 123456789012",
    "logged at 2026-11-30 10:21:09\n2026-11-30 10:21:10 200\n2026-11-30 10:21:11 404",
    "100%25 of 20%40, 5 &amp; 6, C:\\new\\temp\\readme.txt",
    "\\n\\n4711\\n2026\\n",
    "my order number: 20261130471",
    "see 2001:db8::8a2e:370:7334 and 10.20.30.40\n10.20.30.41",
    "2026.1130.4711.0001 and 1_000_000_000_000",
    "passport required: biometric",
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301\n3f2504e0-4f89-41d3-9a0c-0305e82c3302",
    "用户@张三 说 @李四。你好",
)
"""Texts without any, that look as if."""
