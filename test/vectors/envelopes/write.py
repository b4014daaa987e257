"""Writes envelopes.json: envelopes made apart from Coffer, from docs/envelope-format.md alone.

Needs Python 3.9 and the package "cryptography". The data key is wrapped by nobody: the tests hand it out by the text
that stands in the header.
"""
import base64
import hashlib
import hmac
import json
import pathlib
import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MAGIC = bytes.fromhex("89434f464645520a")


def derive(data_key, salt, info):
    return HKDF(algorithm=SHA256(), length=32, salt=salt, info=info).derive(data_key)


def text(value):
    encoded = value.encode()
    return struct.pack(">H", len(encoded)) + encoded


def wrapped_key(generation, wrapped, size):
    body = struct.pack(">IH", generation, len(wrapped)) + wrapped.encode()
    body += bytes(size - 32 - len(body))
    return body + hashlib.sha256(body).digest()


def chunks(payload_key, plaintext, size):
    starts = range(0, max(1, len(plaintext)), size)
    for number, start in enumerate(starts):
        final = 1 if number == len(starts) - 1 else 0
        nonce = bytes(7) + struct.pack(">IB", number, final)
        yield AESGCM(payload_key).encrypt(nonce, plaintext[start : start + size], None)


def envelope(data_key, salt, plaintext, chunk_bits, half_size, mount, name, metadata, wrapped_keys):
    fields = text(mount) + text(name)
    for key in sorted(metadata, key=str.encode):
        fields += text(key) + text(metadata[key])
    sealed = MAGIC + struct.pack(">BBBBHH", 1, 1, chunk_bits, 0, half_size, len(fields)) + salt + fields
    mac_key = derive(data_key, salt, b"coffer envelope 1 header")
    mac = hmac.new(mac_key, sealed, hashlib.sha256).digest()
    payload_key = derive(data_key, salt, b"coffer envelope 1 payload" + mac)
    pair = [bytes(half_size), bytes(half_size)]
    for generation, wrapped in wrapped_keys:
        pair[(generation - 1) % 2] = wrapped_key(generation, wrapped, half_size)
    return sealed + mac + b"".join(pair) + b"".join(chunks(payload_key, plaintext, 1 << chunk_bits))


def pattern(length):
    return bytes((7 * i + (i >> 8)) % 256 for i in range(length))


CASES = [
    ("an empty plaintext", 0, 16, 128, "transit", "backups", {}, [(1, "service:v1:one")]),
    ("one byte, with metadata", 1, 16, 128, "transit", "a.b-c_d", {"z": "", "host": "db 1", "é": "ü=ß"},
     [(1, "service:v12:twelve")]),
    ("one full chunk", 4096, 12, 64, "team/a", "k", {}, [(1, "vault:v1:one")]),
    ("a chunk and a byte", 4097, 12, 64, "transit", "k", {"a": "1", "B": "2", "aa": "3"}, [(1, "service:v1:one")]),
    ("three full chunks, rewrapped once", 12288, 12, 256, "transit", "k", {}, [(2, "service:v2:two")]),
    ("a rewrap interrupted after its first step", 5000, 12, 256, "transit", "k", {},
     [(3, "service:v3:three"), (4, "service:v4:four")]),
]

out = []
for index, (title, length, bits, size, mount, name, metadata, wrapped_keys) in enumerate(CASES):
    data_key = hashlib.sha256(b"data key %d" % index).digest()
    salt = hashlib.sha256(b"salt %d" % index).digest()
    plaintext = pattern(length)
    data = envelope(data_key, salt, plaintext, bits, size, mount, name, metadata, wrapped_keys)
    out.append({
        "title": title, "mount": mount, "name": name, "metadata": metadata, "wrapped": max(wrapped_keys)[1],
        "chunkBytes": 1 << bits, "wrappedKeyBytes": size, "salt": salt.hex(), "dataKey": data_key.hex(),
        "plaintextBytes": length, "plaintextSha256": hashlib.sha256(plaintext).hexdigest(),
        "envelope": base64.b64encode(data).decode(),
    })
target = pathlib.Path(__file__).with_name("envelopes.json")
target.write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")
