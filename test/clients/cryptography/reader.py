"""Reads the keyring of a repository. Written from docs/team-format.md, and for age files from age's specification;
it shares no code with Coffer.

    reader.py judge KEYRING ID             prints who is in, who is gone, and the versions that are believed, as JSON
    reader.py open KEYRING ID FILE NAME    prints a value of a .env file; IDENTITY is the file with the private key

ID is the id of any fact, as a colleague tells it: the keyring is the one that this fact belongs to.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import struct
import sys

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_ssh_private_key

DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
ID = re.compile(r"[0-9a-hjkmnp-tv-z]{32}\Z")
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}\Z")
KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}\Z")
RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z", re.I)
AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
RECIPIENT = re.compile(r"(?:age1[a-z0-9]{58}|age1pq1[a-z0-9]+|ssh-(?:ed25519|rsa) [A-Za-z0-9+/]+=*)\Z")
PLUGIN = re.compile(r"age1[a-z0-9+._-]+1[a-z0-9]+\Z")
ONE, MAYBE, SOME, ANY = (1, 1), (0, 1), (1, None), (0, None)
COMMON = {"store": ONE, "after": ONE, "epoch": ONE, "by": ONE, "at": ONE}
FIELDS = {
    "store": {"at": ONE, "name": ONE, "key": SOME, "sign": ONE, "secret": MAYBE, "check": ONE},
    "member": {**COMMON, "name": ONE, "role": ONE, "key": SOME, "sign": MAYBE, "secret": MAYBE, "root": ONE},
    "removal": {**COMMON, "without": ANY, "for": SOME, "check": ONE, "older": ONE},
    "slot": {**COMMON, "for": ONE, "root": ONE},
    "version": {**COMMON, "key": ONE, "version": ONE, "type": ONE, "under": ONE, "material": ONE},
}


class NoFact(Exception):
    """Why a file is no fact."""


def need(condition, why):
    if not condition:
        raise NoFact(why)


def id_of(message):
    number = int.from_bytes(hashlib.sha256(message).digest()[:20], "big")
    return "".join(DIGITS[number >> shift & 31] for shift in range(155, -1, -5))


class Fact:
    """One file. `card` is there for a person, `version` for a version of a key."""

    def __init__(self, path, content):
        need(len(content) <= 1 << 20, "too long")
        try:
            text = content.decode("utf-8").replace("\r\n", "\n")
        except UnicodeDecodeError:
            raise NoFact("not UTF-8") from None
        need(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), "control characters")
        found = re.fullmatch(r"(.*\n)signature ([A-Za-z0-9+/=]+)\n", text, re.S)
        need(found, "no signature")
        message, self.signature = found.groups()
        self.message, self.id = message.encode(), id_of(message.encode())
        head, mark, armor = message.partition("\n-----BEGIN ")
        self.armor = mark[1:] + armor
        first, *lines = head.removesuffix("\n").split("\n")
        found = re.fullmatch("coffer team 1 ([a-z]{1,32})", first)
        need(found, "not a fact")
        self.kind = found.group(1)
        self.fields = {}
        for line in lines:
            field, _, value = line.partition(" ")
            need(re.fullmatch("[a-z]{1,32}", field) and value, "an invalid line")
            self.fields.setdefault(field, []).append(value)
        known = FIELDS.get(self.kind, COMMON)
        for field, (least, most) in known.items():
            count = len(self.fields.get(field, []))
            need(count >= least and (most is None or count <= most), f"{count} times {field}")
        self.is_newer = self.kind not in FIELDS or any(field not in known for field in self.fields)
        self._common()
        self.card = self.version = self.check = self.root = None
        self.without, self.given, self.keys = [], [], []
        if self.kind in FIELDS:
            self._own()
        title = self._title()
        if self.is_newer:
            # It means nothing, but for its place in the order.
            self.card = self.version = self.check = self.root = None
            self.without, self.given, self.names = [], [], self.names[:1]
        need(path == f"{title}.{self.id}" if title else path.endswith(f".{self.id}"), "another path")

    def one(self, field):
        return self.fields[field][0]

    def _common(self):
        need(AT.match(self.one("at")), "an invalid time")
        if self.kind == "store":
            self.store, self.after, self.by, self.names = self.id, [], self.id, []
            return
        self.store = ident(self.one("store"))
        self.after = sorted_ids(self.one("after"))
        sorted_ids(self.one("epoch"))
        self.names = [reference(self.one("by"))]
        self.by = self.names[0][0]

    def _own(self):
        if self.kind in ("store", "member"):
            self.card, self.keys = self.one("name"), self.fields["key"]
            need(NAME.match(self.card) and not RESERVED.match(self.card), "an invalid name")
            need(len(set(self.keys)) == len(self.keys), "a key twice")
            for key in self.keys:
                need(RECIPIENT.match(key) or PLUGIN.match(key), "an invalid key")
            self.sign = self.fields.get("sign", [None])[0]
            role = "admin" if self.kind == "store" else self.one("role")
            need(role in ("user", "admin") and (role == "admin") == (self.sign is not None), "an invalid role")
            is_apart = self.sign is not None and self.sign not in self.keys
            need(("secret" in self.fields) == is_apart, "a secret that is not needed, or none")
            if self.sign is not None:
                public_key(self.sign)
        if self.kind in ("removal", "slot"):
            self.given = [reference(text) for text in self.fields["for"]]
            self.without = [reference(text) for text in self.fields.get("without", [])]
            self.names += self.without + self.given
            need(not {card for card, _ in self.given} & {card for card, _ in self.without}, "out and given")
        if self.kind in ("store", "removal"):
            self.check = ident(self.one("check"))
        if self.kind in ("member", "slot"):
            self.root = ident(self.one("root"))
        if self.kind == "version":
            key, number = self.one("key"), self.one("version")
            need(KEY.match(key) and not RESERVED.match(key), "an invalid key name")
            need(re.fullmatch("[1-9][0-9]{0,8}", number), "an invalid number")
            self.version, self.under = (key, int(number)), ident(self.one("under"))
            self.is_newer |= self.one("type") != "aes256-gcm96"
        need((self.kind == "version") == (self.armor == ""), "an age file too few or too many")

    def _title(self):
        if self.kind == "store":
            return "store"
        if self.kind == "member":
            return f"members/{self.card}"
        if self.kind == "slot":
            return f"members/{self.given[0][1]}.slot"
        if self.kind == "version":
            return "keys/%s.v%d" % self.version
        if self.kind == "removal":
            return "removals/" + ("+".join(sorted({name for _, name in self.without}))[:80] or "united")
        return None


def ident(text):
    need(ID.match(text), "an invalid id")
    return text


def sorted_ids(text):
    ids = [ident(word) for word in text.split(" ")]
    need(ids == sorted(set(ids)), "ids in another order")
    return ids


def reference(text):
    card, _, name = text.partition(" ")
    need(NAME.match(name), "an invalid card name")
    return ident(card), name


def string(data):
    return struct.pack(">I", len(data)) + data


def public_key(line):
    """The blob and the 32 bytes of `ssh-ed25519 BASE64`."""
    kind, _, text = line.partition(" ")
    blob = base64.b64decode(text, validate=True)
    start = string(b"ssh-ed25519") + struct.pack(">I", 32)
    need(kind == "ssh-ed25519" and len(blob) == len(start) + 32 and blob.startswith(start), "an invalid key")
    return blob, blob[len(start) :]


def is_signed(fact, line):
    blob, key = public_key(line)
    head = b"SSHSIG" + struct.pack(">I", 1) + string(blob)
    body = string(b"coffer-team") + string(b"") + string(b"sha512")
    raw = base64.b64decode(fact.signature)[-64:]
    if base64.b64encode(head + body + string(string(b"ssh-ed25519") + string(raw))).decode() != fact.signature:
        return False
    try:
        signed = b"SSHSIG" + body + string(hashlib.sha512(fact.message).digest())
        Ed25519PublicKey.from_public_bytes(key).verify(raw, signed)
    except (InvalidSignature, ValueError):
        return False
    return True


def read_keyring(directory):
    facts = {}
    for folder, _, files in os.walk(directory):
        for file in files:
            path = os.path.join(folder, file)
            if file.endswith(".new") or file.startswith(".git") or os.path.islink(path):
                continue
            try:
                with open(path, "rb") as opened:
                    fact = Fact(os.path.relpath(path, directory).replace(os.sep, "/"), opened.read())
                facts[fact.id] = fact
            except NoFact as why:
                print(f"{path}: {why}", file=sys.stderr)
    return facts


class Judgement:
    """The section "Judging" of the page, by its numbers. Sets instead of bits, and no thought for time."""

    def __init__(self, facts, store, seen=()):
        self.facts, self.store = facts, store
        # 1
        self.good = {}
        for fact in facts.values():
            self._take(fact)
        self.pasts = {}
        skipping = sorted((fact for fact in self.good.values() if fact.version), key=lambda fact: len(self.past(fact)))
        for fact in skipping:
            past = self.past(fact)
            is_whole = all(before in self.good for other in [fact, *past] for before in other.after)
            numbers = [other.version[1] for other in past if other.version and other.version[0] == fact.version[0]]
            if is_whole and fact.version[1] > max(numbers, default=0) + 1:
                del self.good[fact.id]
                self.pasts = {}
        # 2
        self.removals = [fact for fact in self.good.values() if fact.without]
        # 3
        rank = {removal: place for place, removal in enumerate(seen)}
        never = len(rank)

        def rank_of(fact):
            return rank.get(fact.id, never)

        def kills(r, f):
            if not self.hits(r, f):
                return False
            silenced = any(rank_of(other) < rank_of(r) and self.hits(other, r) for other in self.removals)
            return not (rank_of(f) < rank_of(r) and silenced)

        killed = {r: {f for f in self.removals if kills(r, f)} for r in self.removals}
        reach = {r: set(out) for r, out in killed.items()}
        for middle in self.removals:
            for r in self.removals:
                if middle in reach[r]:
                    reach[r] |= reach[middle]
        # 4
        verdicts = {}

        def is_void(f):
            if f not in verdicts:
                foreign = [r for r in self.removals if f in killed[r] and r not in reach[f]]
                verdicts[f] = any(not is_void(r) for r in foreign)
            return verdicts[f]

        firm = [r for r in self.removals if not is_void(r)]
        self.valid = {
            fact.id: fact
            for fact in self.good.values()
            if (not is_void(fact) if fact.without else not any(self.hits(r, fact) for r in firm))
        }
        self.quarrels = [r for r in firm if any(f in killed[r] and r in reach[f] for f in firm)]
        # 5
        named = {card for r in firm for card, _ in r.without}
        cards = [fact for fact in self.valid.values() if fact.card]
        self.gone = named | {card.id for card in cards if any(self.takes_out(r, card) for r in firm)}
        self.present = [card for card in cards if card.id not in self.gone]
        # 7
        def given(epoch):
            cards = {epoch.id} if epoch.kind == "store" else {card for card, _ in epoch.given}
            for fact in self.valid.values():
                if fact.root == epoch.id:
                    cards |= {fact.id} if fact.card else {card for card, _ in fact.given}
            return cards

        def knows(epoch, card):
            return any(
                self.takes_out(r, self.good.get(card), card) and (r is epoch or r in self.past(epoch)) for r in firm
            )

        epochs = [fact for fact in self.valid.values() if fact.check]
        self.believed = {
            epoch.id
            for epoch in epochs
            if all(card in self.valid and card not in self.gone for card in given(epoch))
            and all(knows(epoch, card) for card in self.gone)
        }

    def _take(self, fact):
        if fact.id in self.good or fact.store != self.store:
            return fact.id in self.good
        author = self.facts.get(fact.by)
        if author is None or author.card is None or author.sign is None or author.is_newer:
            return False
        if author is not fact and not self._take(author):
            return False
        for card, name in fact.names:
            named = self.facts.get(card)
            if named is not None and named.card != name:
                return False
        if is_signed(fact, author.sign):
            self.good[fact.id] = fact
        return fact.id in self.good

    def past(self, fact):
        if fact.id not in self.pasts:
            past, left = set(), list(fact.after)
            while left:
                before = self.good.get(left.pop())
                if before is not None and before not in past:
                    past.add(before)
                    left += before.after
            self.pasts[fact.id] = past
        return self.pasts[fact.id]

    def takes_out(self, r, card, card_id=None):
        if (card_id or card.id) in {out for out, _ in r.without}:
            return True
        if card is None or card in self.past(r) or r in self.past(card):
            return False
        named = [self.good[out] for out, _ in r.without if out in self.good]
        return any(marks_of(card) & marks_of(other) for other in named)

    def through(self, r, card):
        if self.takes_out(r, card):
            return True
        return card.by != card.id and card not in self.past(r) and self.through(r, self.good[card.by])

    def hits(self, r, f):
        return f is not r and f not in self.past(r) and self.through(r, self.good[f.by])

    def best(self, key):
        """8: the version that values are encrypted with."""
        believed = [fact for fact in self.valid.values() if fact.version and fact.under in self.believed]
        own = [fact for fact in believed if fact.version[0] == key]
        return min(own, key=lambda fact: (-fact.version[1], fact.id), default=None)


def marks_of(card):
    return {("name", card.card), *(("key", key) for key in [*card.keys, card.sign] if key)}


# age: https://age-encryption.org/v1


def hkdf(secret, salt, info, length=32):
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)


def unpadded(text):
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def age_files(armor):
    for body in re.findall("-----BEGIN AGE ENCRYPTED FILE-----\n(.*?)-----END AGE ENCRYPTED FILE-----\n", armor, re.S):
        yield base64.b64decode(body)


def open_age(content, identity):
    """The message of a file that the identity opens; None otherwise."""
    end = content.index(b"\n--- ")
    lines = content[:end].decode().split("\n")
    mac, _, payload = content[end + 5 :].partition(b"\n")
    stanzas = []
    for line in lines[1:]:
        if line.startswith("-> "):
            stanzas.append((line[3:].split(" "), []))
        else:
            stanzas[-1][1].append(line)
    for words, body in stanzas:
        file_key = identity(words, unpadded("".join(body)))
        if file_key is None:
            continue
        wanted = hmac.digest(hkdf(file_key, b"", b"header"), content[: end + 4], "sha256")
        if not hmac.compare_digest(wanted, unpadded(mac.decode())):
            raise ValueError("a header of somebody else")
        nonce, chunk = payload[:16], payload[16:]
        # 32 bytes are in one chunk, which is the last.
        return ChaCha20Poly1305(hkdf(file_key, nonce, b"payload")).decrypt(bytes(11) + b"\x01", chunk, None)
    return None


def unwrap(shared, salt, info, body):
    try:
        return ChaCha20Poly1305(hkdf(shared, salt, info)).decrypt(bytes(12), body, None)
    except InvalidTag:
        return None


def bech32(text):
    text = text.lower()
    prefix, _, data = text.rpartition("1")
    digits = ["qpzry9x8gf2tvdw0s3jn54khce6mua7l".index(digit) for digit in data]
    check = 1
    for value in [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix] + digits:
        top, check = check >> 25, (check & 0x1FFFFFF) << 5 ^ value
        for bit, part in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= part if top >> bit & 1 else 0
    if check != 1:
        raise ValueError("a mistyped identity")
    number = 0
    for digit in digits[:-6]:
        number = number << 5 | digit
    return (number >> (len(digits) - 6) * 5 % 8).to_bytes((len(digits) - 6) * 5 // 8, "big")


def age_identity(line):
    key = X25519PrivateKey.from_private_bytes(bech32(line))
    own = key.public_key().public_bytes_raw()

    def identity(words, body):
        if words[0] != "X25519":
            return None
        share = unpadded(words[1])
        shared = key.exchange(X25519PublicKey.from_public_bytes(share))
        return unwrap(shared, share + own, b"age-encryption.org/v1/X25519", body)

    return identity


def ssh_identity(content):
    seed = load_ssh_private_key(content, None).private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    key = X25519PrivateKey.from_private_bytes(hashlib.sha512(seed).digest()[:32])
    own = key.public_key().public_bytes_raw()
    public = load_ssh_private_key(content, None).public_key().public_bytes_raw()
    blob = string(b"ssh-ed25519") + string(public)
    info = b"age-encryption.org/v1/ssh-ed25519"
    tweak = X25519PrivateKey.from_private_bytes(hkdf(b"", blob, info))

    def identity(words, body):
        tag = base64.b64encode(hashlib.sha256(blob).digest()[:4]).decode().rstrip("=")
        if words[0] != "ssh-ed25519" or words[1] != tag:
            return None
        share = unpadded(words[2])
        shared = key.exchange(X25519PublicKey.from_public_bytes(share))
        return unwrap(tweak.exchange(X25519PublicKey.from_public_bytes(shared)), share + own, info, body)

    return identity


def identity_in(path):
    with open(path, "rb") as file:
        content = file.read()
    if b"-----BEGIN " in content:
        return ssh_identity(content)
    return age_identity(re.search("^AGE-SECRET-KEY-1.*$", content.decode(), re.M).group())


# Keys and values


def lp(*fields):
    return b"".join(string(field.encode()) for field in fields)


def unseal(secret, purpose, associated, sealed):
    content = base64.b64decode(sealed, validate=True)
    key = hkdf(secret, content[:32], purpose.encode(), 44)
    return AESGCM(key[:32]).decrypt(key[32:], content[32:], associated)


def root_keys(state, identity):
    """Every root key that the identity opens, by epoch: from age files, and from `older` of those."""
    roots = {}

    def take(epoch, root):
        fact = state.good.get(epoch)
        if fact is None or epoch in roots or fact.check != id_of(b"check" + root):
            return
        roots[epoch] = root
        if fact.kind == "removal":
            older = unseal(root, "coffer/team/1/older", lp(state.store), fact.one("older"))
            for before, text in json.loads(older).items():
                take(before, bytes.fromhex(text))

    for fact in state.good.values():
        for content in age_files(fact.armor):
            root = open_age(content, identity)
            if root is not None:
                take(fact.root or fact.id, root)
    return roots


def open_value(state, identity, name, text):
    found = re.fullmatch(r"coffer:([A-Za-z0-9_-]+):v([0-9]+):([A-Za-z0-9+/=]+)", text)
    wanted, sealed = (found.group(1), int(found.group(2))), base64.b64decode(found.group(3))
    purpose, opened = "coffer/team/1/material", {}
    roots = root_keys(state, identity)
    for fact in state.good.values():
        if fact.version != wanted or fact.is_newer or fact.under not in roots:
            continue
        bound = lp(purpose, state.store, wanted[0], str(wanted[1]), fact.one("type"), fact.under)
        try:
            material = unseal(roots[fact.under], purpose, bound, fact.one("material"))
            opened[material] = AESGCM(material).decrypt(sealed[:12], sealed[12:], name.encode()).decode(), fact
        except InvalidTag:
            continue
    if not opened:
        sys.exit("nothing that this identity opens")
    if len(opened) > 1:
        sys.exit("two meanings")
    ((value, fact),) = opened.values()
    if fact.id not in state.valid or fact.under not in state.believed:
        sys.exit("a version that somebody had who left")
    return value


def main(command, keyring, told, *more):
    facts = read_keyring(keyring)
    told = told.replace("-", "")
    if told not in facts:
        sys.exit("another keyring, or an older state")
    state = Judgement(facts, facts[told].store)
    if told not in state.good:
        sys.exit("the id of a fact that is not good")
    if state.quarrels:
        sys.exit("admins removed each other")
    if command == "judge":
        keys = sorted({fact.version[0] for fact in state.valid.values() if fact.version})
        best = {key: state.best(key) for key in keys}
        print(
            json.dumps(
                {
                    "good": sorted(state.good),
                    "members": sorted((card.id, card.card) for card in state.present),
                    "gone": sorted(state.gone),
                    "keys": {key: fact and fact.version[1] for key, fact in best.items()},
                }
            )
        )
        return
    path, name = more
    with open(path, encoding="utf-8") as file:
        text = re.search(f"^{re.escape(name)}=(.*)$", file.read(), re.M).group(1)
    sys.stdout.write(open_value(state, identity_in(os.environ["IDENTITY"]), name, text))


main(*sys.argv[1:])
