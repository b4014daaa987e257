import * as published from 'cctv-age';
import { parseEncryptedSshKey, parseSshPrivateKey } from '../../../src/signatures/ssh-private-key.ts';
import { isAge } from '../../../src/transit/envelope/age/detect.ts';
import { decryptAge, readAge } from '../../../src/transit/envelope/age/file.ts';
import { ageIdentity, ageRecipient } from '../../../src/transit/envelope/age/recipients.ts';
import { Lookahead } from '../../../src/transit/envelope/ports.ts';
import type { Chance } from '../../chance.ts';
import { Collected, sourceOf } from '../../transit/envelope/in-memory.ts';
import { shorterBytes, spoiledBytes } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

interface Sample {
  readonly bytes: Buffer;
  readonly identity: string;
  readonly plaintext: Buffer;
}

const MAX_BYTES = 10_000;

/** Vectors of the age project that open, and have one private key. */
async function samplesOf(): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const vector of Object.values(published as unknown as Record<string, Uint8Array>)) {
    const text = Buffer.from(vector).toString('latin1');
    const identity = /^identity: (\S+)$/m.exec(text)?.[1];
    const bytes = Buffer.from(vector).subarray(text.indexOf('\n\n') + 2);
    const isFit = /^expect: success$/m.test(text) && !/^compressed/m.test(text) && bytes.length < MAX_BYTES;
    if (identity === undefined || !isFit) continue;
    samples.push({ bytes, identity, plaintext: await opened(bytes, identity) });
  }
  return samples;
}

async function opened(bytes: Buffer, identity: string): Promise<Buffer> {
  const sink = new Collected();
  const source = new Lookahead(sourceOf(bytes, 1000));
  if (!(await isAge(source))) return sink.bytes;
  await decryptAge(await readAge(source), { identities: [ageIdentity(identity)], sink });
  return sink.bytes;
}

interface Case {
  readonly bytes: Buffer;
  readonly from: number;
}

async function open(_: Chance, secrets: Secrets): Promise<World<Case>> {
  const samples = await samplesOf();
  const sampleOf = (from: number): Sample => {
    const sample = samples[from % samples.length];
    if (sample === undefined) throw new Error('there are no samples');
    return sample;
  };
  return {
    generate(chance) {
      const from = chance.below(samples.length);
      const others = samples.map(({ bytes }) => bytes);
      return { bytes: spoiledBytes(chance, sampleOf(from).bytes, others), from };
    },
    async check({ bytes, from }) {
      const { identity, plaintext } = sampleOf(from);
      const outcome = await secrets.outcome(() => opened(bytes, identity));
      // A change of the armor's white space, or another whole file, may open; never to other data.
      const known = [plaintext, ...samples.map((sample) => sample.plaintext), Buffer.alloc(0)];
      if ('value' in outcome && !known.some((whole) => whole.equals(outcome.value))) {
        throw new Defect('a changed file opens to other data');
      }
      const text = bytes.toString('latin1');
      secrets.outcomeNow(() => ageRecipient(text));
      secrets.outcomeNow(() => parseSshPrivateKey(text));
      secrets.outcomeNow(() => parseEncryptedSshKey(text));
    },
    print: ({ bytes, from }) => `${from} ${bytes.toString('base64')}`,
    *simpler({ bytes, from }) {
      for (const shorter of shorterBytes(bytes)) yield { bytes: shorter, from };
    },
    close: () => undefined,
  };
}

export const ageFiles = target<Case>({ name: 'age-files', cases: 10_000, open });
