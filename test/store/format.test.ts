/**
 * A reader of stores and backups written from docs/format.md alone. It shares no code with the store, so that the
 * page is known to be complete and true.
 */
import {
  argon2Sync,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
} from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, it } from 'vitest';
import { backupStore } from '../../src/store/administration/backup.ts';
import { addSlot, rekey } from '../../src/store/administration/slots.ts';
import { KEY, newStoreDirectory, openWithKey, temporaryDirectory } from './temporary-store.ts';

function LP(...fields: (string | Buffer)[]): Buffer {
  return Buffer.concat(
    fields.map((field) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(field));
      return Buffer.concat([length, Buffer.from(field as string)]);
    }),
  );
}

const HKDF = (secret: Buffer, salt: string | Buffer, info: string, size: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, size));

function openSeal(secret: Buffer, salt: Buffer, purpose: string, aad: Buffer, sealed: Buffer): Buffer {
  const keys = HKDF(secret, salt, purpose, 44);
  const cipher = createDecipheriv('aes-256-gcm', keys.subarray(0, 32), keys.subarray(32));
  cipher.setAAD(aad);
  cipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
}

function checkedJson(bytes: Buffer): Record<string, unknown> {
  const text = bytes.toString();
  const [, checksum, rest] = /^\{"checksum":"([0-9a-f]{64})",(.*\})\n$/.exec(text) ?? [];
  expect(checksum).toBe(createHash('sha256').update(`{${rest}`).digest('hex'));
  return JSON.parse(`{${rest}`);
}

const base64 = (text: unknown): Buffer => Buffer.from(String(text), 'base64');

function x25519(privateKey: Buffer, publicKey: Buffer): Buffer {
  const jwk = { kty: 'OKP', crv: 'X25519', x: publicKey.toString('base64url') };
  return diffieHellman({
    privateKey: createPrivateKey({
      key: { ...jwk, d: privateKey.toString('base64url') },
      format: 'jwk',
    }),
    publicKey: createPublicKey({ key: jwk, format: 'jwk' }),
  });
}

interface SlotFile {
  readonly [field: string]: unknown;
  readonly kdf: { name: string; salt: string; memoryKiB: number; passes: number; lanes: number };
  readonly shares?: { count: number; threshold: number };
  readonly rootKey: { ephemeralKey: string; sealed: string };
}

/** The root key, or undefined when the secret is not this slot's. */
function openSlot(bytes: Buffer, secret: Buffer, storeId: string, generation: number): Buffer | undefined {
  const slot = checkedJson(bytes) as unknown as SlotFile;
  const { kdf, shares } = slot;
  const salt = base64(kdf.salt);
  const K =
    kdf.name === 'hkdf-sha256'
      ? secret
      : argon2Sync('argon2id', {
          message: secret,
          nonce: salt,
          memory: kdf.memoryKiB,
          passes: kdf.passes,
          parallelism: kdf.lanes,
          tagLength: 32,
        });
  const S = shares === undefined ? '' : `${shares.threshold} of ${shares.count}`;
  const publicKey = base64(slot['publicKey']);
  const SLOT = [storeId, String(slot['id']), String(slot['kind']), String(slot['created']), S, publicKey];
  let keys: Buffer;
  try {
    const purpose = 'coffer/1/slot keys';
    keys = openSeal(K, salt, purpose, LP(purpose, ...SLOT), base64(slot['sealedKeys']));
  } catch {
    return undefined;
  }
  const ephemeralKey = base64(slot.rootKey.ephemeralKey);
  const shared = x25519(keys.subarray(0, 32), ephemeralKey);
  const purpose = 'coffer/1/root key';
  return openSeal(
    Buffer.concat([shared, keys.subarray(32)]),
    Buffer.concat([ephemeralKey, publicKey]),
    purpose,
    LP(purpose, ...SLOT, String(generation)),
    base64(slot.rootKey.sealed),
  );
}

/** The files of a store, however they were kept. */
interface StoreFiles {
  readonly generation: number;
  readonly format: number;
  readonly header: Buffer;
  readonly slots: ReadonlyMap<string, Buffer>;
  readonly documents: ReadonlyMap<string, Buffer>;
}

type Opened = Map<string, unknown>;

/** Every sealed file by `space|collection|id`. */
function openStoreFiles(files: StoreFiles, secret: Buffer): Opened {
  const header = checkedJson(files.header) as unknown as { kind: string; format: number; id: string };
  expect(header).toMatchObject({ kind: 'coffer store', format: files.format });
  const rootKeys = [...files.slots.values()].map((slot) =>
    openSlot(slot, secret, header.id, files.generation),
  );
  const rootKey = rootKeys.find((key) => key !== undefined) ?? Buffer.alloc(0);
  expect(rootKey).toHaveLength(32);
  const sealingKey = HKDF(rootKey, header.id, 'coffer/1/sealing key', 32);
  const namingKey = HKDF(rootKey, header.id, 'coffer/1/naming key', 32);
  const opened: Opened = new Map();
  for (const [name, bytes] of files.documents) {
    expect(bytes[0]).toBe(1);
    const purpose = 'coffer/1/sealed file';
    const aad = LP(purpose, header.id, name);
    const plaintext = openSeal(sealingKey, bytes.subarray(1, 33), purpose, aad, bytes.subarray(33));
    const fields: string[] = [];
    for (let at = 0; at < plaintext.length; ) {
      const end = at + 4 + plaintext.readUInt32BE(at);
      fields.push(plaintext.toString('utf8', at + 4, end));
      at = end;
    }
    const [space = '', collection = '', id = '', json = ''] = fields;
    const mac = createHmac('sha256', namingKey)
      .update(LP(space, collection, id))
      .digest('hex');
    expect(name).toBe(mac.slice(0, 40));
    opened.set(`${space}|${collection}|${id}`, JSON.parse(json));
  }
  return opened;
}

/** The blobs of a log up to a revision, by their paths in the directory of a generation; undefined for a deleted one. */
function logOf(
  directory: string,
  generation: number,
  revision: number,
  id: string,
): Map<string, Buffer | undefined> {
  const numbers = readdirSync(join(directory, 'log'))
    .map(Number)
    .filter((number) => number > 0);
  numbers.sort((a, b) => a - b);
  const blobs = new Map<string, Buffer | undefined>();
  let last = 0;
  for (const number of numbers.filter((each) =>
    numbers.every((other) => other <= each || numbers.includes(other - 1)),
  )) {
    const bytes = readFileSync(join(directory, 'log', String(number)));
    expect(bytes.toString('latin1', 0, 9)).toBe('COFFERLG\x01');
    expect(bytes.toString('hex', 16, 32)).toBe(id.replaceAll('-', ''));
    expect(Number(bytes.readBigUInt64BE(32))).toBe(number);
    let crc = crc32(bytes.subarray(0, 64));
    expect(bytes.readUInt32BE(64)).toBe(crc);
    if (bytes.readUInt8(9) === 0 && !numbers.includes(number - 1)) {
      expect(Number(bytes.readBigUInt64BE(512))).toBe(number - 1);
      expect(bytes.readUInt32BE(520)).toBe(crc32(bytes.subarray(512, 520), crc));
    }
    last = Number(bytes.readBigUInt64BE(40));
    for (let at = 4096; at + 36 <= bytes.length; ) {
      const length = bytes.readUInt32BE(at);
      if (length < 36 || bytes.readUInt32BE(at + 32) !== crc) break;
      let entry = at + 36;
      const listed = Array.from({ length: bytes.readUIntBE(at + 28, 3) }, () => {
        const [kind = 0, digits = 0] = bytes.subarray(entry, entry + 2);
        const nameEnd = entry + 10 + Math.ceil(digits / 2);
        const name = bytes.toString('hex', entry + 10, nameEnd).slice(0, digits);
        const size = bytes.readUInt32BE(entry + 2);
        const sum = bytes.readUInt32BE(entry + 6);
        entry = nameEnd;
        return {
          path: kind % 2 === 1 ? `slots/${name}.json` : `documents/${name}`,
          size,
          sum,
          isDeleted: kind > 1,
        };
      });
      crc = crc32(bytes.subarray(at + 8, entry), crc32(bytes.subarray(at, at + 4)));
      if (bytes.readUInt32BE(at + 4) !== crc || bytes.readUInt32BE(at + 24) !== bytes.readUInt32BE(12)) break;
      last = Number(bytes.readBigUInt64BE(at + 8));
      if (last > revision) break;
      for (const { path, size, sum, isDeleted } of listed) {
        const content = bytes.subarray(entry, entry + size);
        expect(crc32(content)).toBe(sum);
        entry += size;
        if (bytes.readUInt32BE(12) === generation) blobs.set(path, isDeleted ? undefined : content);
      }
      expect(entry).toBe(at + length);
      at = Math.ceil(entry / 8) * 8;
    }
  }
  expect(last).toBe(revision);
  return blobs;
}

function filesOfDirectory(directory: string): StoreFiles {
  const [state = ''] = readdirSync(join(directory, 'state'));
  const [, generation = '', revision = ''] = /^log-(\d+)-(\d+)$/.exec(state) ?? [];
  const header = readFileSync(join(directory, 'coffer.json'));
  const id = String(checkedJson(header)['id']);
  const logged = logOf(directory, Number(generation), Number(revision), id);
  const area = (name: string): Map<string, Buffer> => {
    const path = join(directory, `generation-${generation}`, name);
    const files = new Map<string, Buffer>();
    for (const file of readdirSync(path)) files.set(file, readFileSync(join(path, file)));
    for (const [place, bytes] of logged) {
      if (!place.startsWith(`${name}/`)) continue;
      if (bytes === undefined) files.delete(place.slice(name.length + 1));
      else files.set(place.slice(name.length + 1), bytes);
    }
    return files;
  };
  return {
    generation: Number(generation),
    format: 2,
    header,
    slots: area('slots'),
    documents: area('documents'),
  };
}

function filesOfBackup(path: string): StoreFiles {
  const bytes = readFileSync(path);
  expect(bytes.subarray(0, 9)).toEqual(Buffer.from('COFFERBK\x01', 'latin1'));
  const areas = new Map<number, Map<string, Buffer>>([1, 2, 3, 4, 5].map((type) => [type, new Map()]));
  let at = 9;
  while (at < bytes.length) {
    const start = at;
    const type = bytes.readUInt8(at);
    const nameEnd = at + 5 + bytes.readUInt32BE(at + 1);
    const name = bytes.toString('latin1', at + 5, nameEnd);
    at = nameEnd + 4 + bytes.readUInt32BE(nameEnd);
    const content = bytes.subarray(nameEnd + 4, at);
    areas.get(type)?.set(name, content);
    if (type === 5) {
      expect(content).toEqual(createHash('sha256').update(bytes.subarray(0, start)).digest());
      expect(at).toBe(bytes.length);
    }
  }
  const info = checkedJson(areas.get(1)?.get('') ?? Buffer.alloc(0));
  return {
    generation: Number(info['generation']),
    format: 1,
    header: areas.get(2)?.get('') ?? Buffer.alloc(0),
    slots: areas.get(3) ?? new Map(),
    documents: areas.get(4) ?? new Map(),
  };
}

/** The ids that a collection's index has, read as the page says. */
function idsOf(opened: Opened, collection: string): string[] {
  const head = opened.get(`index|${collection}|`) as {
    ids?: string[];
    pages?: { page: number; from: string }[];
  };
  if (head.ids !== undefined) return head.ids;
  return (head.pages ?? []).flatMap(({ page, from }, position, pages) => {
    const { ids } = opened.get(`index|${collection}|${page}`) as { ids: string[] };
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.length).toBeLessThanOrEqual(512);
    const next = pages[position + 1]?.from;
    expect(ids.filter((id) => id < from || (next !== undefined && id >= next))).toEqual([]);
    return ids;
  });
}

it('a store is read by another reader, which was written from the description of the format', async () => {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  await addSlot(store, { kind: 'passphrase', passphrase: 'correct horse', label: 'mine' });
  const ids = Array.from({ length: 800 }, (_, i) => `id ${i}`);
  await store.transact((tx) => {
    for (const id of ids) tx.put({ collection: 'many', id }, { id });
    tx.put({ collection: 'few é', id: '\u0000' }, { nested: [1, { two: 'é' }] });
  });
  await rekey(store);
  await store.transact((tx) => {
    for (let i = 0; i < 400; i++) tx.put({ collection: 'many', id: `id ${i}.5` }, {});
    tx.delete({ collection: 'many', id: 'id 7' });
  });
  const backup = join(temporaryDirectory(), 'backup');
  await backupStore({ location: directory, to: backup });

  const expected = [
    ...ids.filter((id) => id !== 'id 7'),
    ...Array.from({ length: 400 }, (_, i) => `id ${i}.5`),
  ].sort();
  for (const files of [filesOfDirectory(directory), filesOfBackup(backup)]) {
    for (const secret of [Buffer.from(KEY), Buffer.from('correct horse')]) {
      const opened = openStoreFiles(files, secret);
      expect(idsOf(opened, '')).toEqual(['few é', 'many']);
      expect(idsOf(opened, 'many')).toEqual(expected);
      expect(opened.get('document|many|id 8')).toEqual({ id: 'id 8' });
      expect(opened.get('document|few é|\u0000')).toEqual({ nested: [1, { two: 'é' }] });
      expect(opened.get('slots||list')).toMatchObject({
        slots: [
          { kind: 'raw', label: '' },
          { kind: 'passphrase', label: 'mine' },
        ],
      });
      expect([...opened.keys()].filter((key) => key.startsWith('document|'))).toHaveLength(
        expected.length + 1,
      );
    }
  }
});
