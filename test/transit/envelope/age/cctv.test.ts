import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import * as published from 'cctv-age';
import { describe, expect, it } from 'vitest';
import { isAge } from '../../../../src/transit/envelope/age/detect.ts';
import { decryptAge, readAge } from '../../../../src/transit/envelope/age/file.ts';
import { passphraseIdentity } from '../../../../src/transit/envelope/age/passphrase.ts';
import { ageIdentity } from '../../../../src/transit/envelope/age/recipients.ts';
import { Lookahead } from '../../../../src/transit/envelope/ports.ts';
import { Collected, sourceOf } from '../in-memory.ts';

/** What an error has to be for each outcome that the vectors know. */
const OUTCOMES: Readonly<Record<string, object>> = {
  'header failure': { kind: expect.stringMatching(/^(inauthentic|corrupt|invalid)$/) },
  'armor failure': { kind: expect.stringMatching(/^(inauthentic|corrupt)$/) },
  'HMAC failure': { kind: 'denied', message: 'the header of the file was modified' },
  'no match': {
    kind: 'denied',
    message: expect.stringMatching(/no matching key for this file|wrong passphrase/),
  },
  'payload failure': { kind: 'inauthentic' },
};

function parseVector(bytes: Uint8Array) {
  const all = Buffer.from(bytes);
  const end = all.indexOf('\n\n');
  const lines = all.toString('latin1', 0, end).split('\n');
  const values = (name: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []));
  const body = all.subarray(end + 2);
  return { values, file: values('compressed')[0] === 'zlib' ? inflateSync(body) : body };
}

// The declarations of the package say that all of it is one default export.
const vectors = published as unknown as Readonly<Record<string, Uint8Array>>;

const cases = Object.entries(vectors).map(([name, bytes]) => ({ name, ...parseVector(bytes) }));

describe("the age project's test vectors", () => {
  it.each(cases)('come out as they should: $name', async ({ values, file }) => {
    const [expected = ''] = values('expect');
    const sink = new Collected();
    const identities = [
      ...values('identity').map(ageIdentity),
      ...values('passphrase').map((passphrase) => passphraseIdentity(async () => passphrase)),
    ];
    const attempt = (async () => {
      const source = new Lookahead(sourceOf(file, 1000));
      if (!(await isAge(source))) throw Object.assign(new Error('not age'), { kind: 'corrupt' });
      await decryptAge(await readAge(source), { identities, sink });
    })();
    if (expected === 'success') await attempt;
    else await expect(attempt).rejects.toMatchObject(OUTCOMES[expected] ?? expect.fail(expected));
    // The last chunk is kept back until it is known to be the last: of some broken files, less is handed out than might be.
    if (expected === 'payload failure' && sink.bytes.length % (64 * 1024) === 0) return;
    const [payload = createHash('sha256').digest('hex')] = values('payload');
    expect(createHash('sha256').update(sink.bytes).digest('hex')).toBe(payload);
  });
});
