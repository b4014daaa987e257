import {
  createDecipheriv,
  createECDH,
  createHash,
  createHmac,
  createPrivateKey,
  decapsulate,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Stanza } from '../../../../src/transit/envelope/age/header.ts';
import { ageRecipient, parseRecipient, sealedFor } from '../../../../src/transit/envelope/age/recipients.ts';
import { parseBech32, printBech32 } from '../../../../src/transit/key-types/age/bech32.ts';
import { keyOfOneMessage } from '../../../../src/transit/key-types/age/kem.ts';
import {
  decapsulatedHybrid,
  decapsulatedP256,
  isScalar,
  mlKemP256Kem,
  pointOf,
} from '../../../../src/transit/key-types/age/tagged.ts';

function raise(why: string): never {
  throw new Error(why);
}

interface Vector {
  readonly stanza: 'p256tag' | 'mlkem768p256tag';
  readonly recipient: string;
  /** Hex. */
  readonly secret: string;
  readonly tag: string;
  readonly encapsulated: string;
  readonly body: string;
  readonly fileKey: string;
}

const { vectors } = JSON.parse(
  readFileSync(new URL('../../../vectors/age-tagged.json', import.meta.url), 'utf8'),
) as { vectors: Vector[] };

const hmac = (key: Buffer, ...data: Buffer[]): Buffer =>
  createHmac('sha256', key).update(Buffer.concat(data)).digest();

/** HKDF of RFC 9180, 4, written out here once more. */
function labelled(suite: Buffer) {
  const head = Buffer.concat([Buffer.from('HPKE-v1'), suite]);
  return {
    extract: (salt: string | Buffer, label: string, key: Buffer) =>
      hmac(Buffer.from(salt), head, Buffer.from(label), key),
    expand: (key: Buffer, label: string, context: Buffer, bytes: number) =>
      hmac(key, Buffer.from([0, bytes]), head, Buffer.from(label), context, Buffer.from([1])).subarray(
        0,
        bytes,
      ),
  };
}

const suite = (text: string, ids: string) => Buffer.concat([Buffer.from(text), Buffer.from(ids, 'hex')]);

function agreement(secret: Buffer, share: Buffer) {
  const own = createECDH('prime256v1');
  own.setPrivateKey(secret);
  return { shared: own.computeSecret(share), point: own.getPublicKey() };
}

function sharedOf(kind: Vector['stanza'], secret: Buffer, sent: Buffer): Buffer {
  if (kind === 'p256tag') {
    const { shared, point } = agreement(secret, sent);
    const kem = labelled(suite('KEM', '0010'));
    const pseudorandom = kem.extract('', 'eae_prk', shared);
    return kem.expand(pseudorandom, 'shared_secret', Buffer.concat([sent, point]), 32);
  }
  const seeds = createHash('shake256', { outputLength: 96 }).update(secret).digest();
  const options = { key: seeds.subarray(0, 64), format: 'raw-seed', asymmetricKeyType: 'ml-kem-768' };
  const quantum = decapsulate(createPrivateKey(options as never), sent.subarray(0, 1088));
  const { shared, point } = agreement(seeds.subarray(64), sent.subarray(1088));
  return createHash('sha3-256')
    .update(Buffer.concat([Buffer.from(quantum), shared, sent.subarray(1088), point]))
    .update('MLKEM768-P256')
    .digest();
}

/** Opens a stanza as a device does. */
function opened({ stanza, secret, recipient }: Vector, { type, args, body }: Stanza): string {
  expect(type).toBe(stanza);
  const [tag = '', encapsulated = ''] = args;
  const sent = Buffer.from(encapsulated, 'base64');
  const label = `age-encryption.org/${stanza}`;
  const own = Buffer.from(parseBech32(recipient).bytes);
  const point = stanza === 'p256tag' ? own : own.subarray(1184);
  const hash = createHash('sha256').update(point).digest().subarray(0, 4);
  expect(tag).toBe(hmac(Buffer.from(label), sent, hash).subarray(0, 4).toString('base64').replace(/=+$/, ''));
  const ids = stanza === 'p256tag' ? '001000010003' : '005000010003';
  const { extract, expand } = labelled(suite('HPKE', ids));
  const context = Buffer.concat([
    Buffer.from([0]),
    extract('', 'psk_id_hash', Buffer.alloc(0)),
    extract('', 'info_hash', Buffer.from(label)),
  ]);
  const key = extract(sharedOf(stanza, Buffer.from(secret, 'hex'), sent), 'secret', Buffer.alloc(0));
  const decipher = createDecipheriv(
    'chacha20-poly1305',
    expand(key, 'key', context, 32),
    expand(key, 'base_nonce', context, 12),
    { authTagLength: 16 },
  );
  decipher.setAuthTag(body.subarray(-16));
  return Buffer.concat([decipher.update(body.subarray(0, -16)), decipher.final()]).toString();
}

describe.each(vectors)('a recipient with the stanza $stanza', (vector) => {
  const { stanza, recipient } = vector;
  const parsed = parseRecipient(recipient);
  const secret = Buffer.from(vector.secret, 'hex');
  const written: Stanza = {
    type: stanza,
    args: [vector.tag, vector.encapsulated],
    body: Buffer.from(vector.body, 'base64'),
  };
  const { prefix, bytes } = parseBech32(recipient);

  it('opens what age has written to it, here in the tests', () => {
    expect(opened(vector, written)).toBe(vector.fileKey);
  });

  it('opens with its private key what age has written to it', () => {
    expect(printBech32(prefix, parsed.kem.publicOf(secret))).toBe(recipient);
    const [sealed = raise('it is not found')] = sealedFor(parsed, [written]);
    expect(parsed.kem.open(secret, bytes, sealed)?.toString()).toBe(vector.fileKey);
    const body = Buffer.from(sealed.body);
    body.writeUInt8(body.readUInt8(3) ^ 1, 3);
    expect(parsed.kem.open(secret, bytes, { ...sealed, body })).toBeUndefined();
  });

  it('is found by its tag among stanzas for others', async () => {
    const other = { kem: parsed.kem, bytes: parsed.kem.publicOf(Buffer.alloc(32, 3)) };
    const stanzas = await Promise.all(
      [other.bytes, bytes, other.bytes].map((key) =>
        ageRecipient(printBech32(prefix, key)).wrap(Buffer.from('sixteen letters.')),
      ),
    );
    const found = sealedFor(parsed, stanzas);
    expect(found.map((sealed) => parsed.kem.open(secret, bytes, sealed)?.toString())).toEqual([
      'sixteen letters.',
    ]);
    expect(sealedFor(other, stanzas)).toHaveLength(2);
  });

  it('refuses a stanza that is not as it should be, also one for somebody else', () => {
    const [tag = '', sent = ''] = written.args;
    const spoiled: readonly Partial<Stanza>[] = [
      { args: [sent] },
      { args: [tag, sent, tag] },
      { args: [`${tag}==`, sent] },
      { args: ['AAAA', sent] },
      { args: [tag, sent.slice(0, -4)] },
      { body: written.body.subarray(1) },
    ];
    for (const change of spoiled) {
      const attempt = () => sealedFor(parsed, [{ ...written, ...change }]);
      expect(attempt).toThrow(expect.objectContaining({ kind: 'inauthentic' }));
    }
  });

  it('refuses a share that is no point of the curve, in each form that has its length', () => {
    const share = Buffer.from(vector.encapsulated, 'base64');
    const start = share.length - 65;
    for (const form of [0, 2, 5, 6, 7]) {
      const changed = Buffer.from(share);
      changed.writeUInt8(form, start);
      expect(() => parsed.kem.open(secret, bytes, { encapsulated: changed, body: written.body })).toThrow(
        'a point that is not on its curve',
      );
    }
    const off = Buffer.from(share);
    off.writeUInt8(off.readUInt8(start + 64) ^ 1, start + 64);
    expect(() => parsed.kem.open(secret, bytes, { encapsulated: off, body: written.body })).toThrow(
      'a point that is not on its curve',
    );
  });

  it('is written to as age writes, each time with a key of its own', async () => {
    const { wrap, group } = ageRecipient(recipient);
    expect(group).toBe(stanza === 'p256tag' ? 'classical' : 'post-quantum');
    const fileKey = Buffer.from('sixteen letters.');
    const made = await Promise.all([wrap(fileKey), wrap(fileKey)]);
    expect(made.map((one) => opened(vector, one))).toEqual(Array(2).fill('sixteen letters.'));
    expect(new Set(made.map(({ args }) => args[1])).size).toBe(2);
  });

  it('is refused when its point is none of the curve, or it is too short or too long', () => {
    const point = Buffer.from(bytes);
    point.fill(0xff, point.length - 32);
    expect(() => ageRecipient(printBech32(prefix, point))).toThrow('not a valid P-256 public key');
    for (const other of [bytes.subarray(1), Buffer.concat([bytes, Buffer.alloc(1)])]) {
      expect(() => ageRecipient(printBech32(prefix, other))).toThrow(`has ${bytes.length} bytes`);
    }
    const form = Buffer.from(bytes);
    form[stanza === 'p256tag' ? 0 : 1184] = stanza === 'p256tag' ? 4 : 6;
    expect(() => ageRecipient(printBech32(prefix, form))).toThrow('not a valid P-256 public key');
  });
});

interface Published {
  readonly secret: string;
  readonly publicKey: string;
  readonly encapsulated: string;
  readonly shared: string;
}

const published = JSON.parse(
  readFileSync(new URL('../../../vectors/hpke-p256.json', import.meta.url), 'utf8'),
) as {
  dhkemP256: (Published & { readonly info: string; readonly key: string; readonly nonce: string })[];
  mlKem768P256: Published[];
};
const hex = (text: string): Buffer => Buffer.from(text, 'hex');

describe('the key encapsulations of HPKE on P-256', () => {
  it.each(published.dhkemP256)('give what RFC 9180 says for the info "$info"', (vector) => {
    expect(pointOf(hex(vector.secret)).toString('hex')).toBe(vector.publicKey);
    const shared = decapsulatedP256(hex(vector.secret), hex(vector.encapsulated));
    expect(shared.toString('hex')).toBe(vector.shared);
    const { key, nonce } = keyOfOneMessage(0x0010, vector.info, shared);
    expect([key.toString('hex'), nonce.toString('hex')]).toEqual([vector.key, vector.nonce]);
  });

  it.each(published.mlKem768P256)('give, with ML-KEM, what the draft says for $secret', (vector) => {
    expect(mlKemP256Kem.publicOf(hex(vector.secret)).toString('hex')).toBe(vector.publicKey);
    const shared = decapsulatedHybrid(hex(vector.secret), hex(vector.encapsulated));
    expect(shared.toString('hex')).toBe(vector.shared);
  });

  it('have numbers from 1 to one less than the order as scalars', () => {
    const order = hex('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
    const below = Buffer.from(order);
    below.writeUInt8(0x50, 31);
    expect([Buffer.alloc(32), order, Buffer.alloc(32, 0xff), below.subarray(1)].some(isScalar)).toBe(false);
    expect([below, Buffer.alloc(32, 1)].every(isScalar)).toBe(true);
  });
});
