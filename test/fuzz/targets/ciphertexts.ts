import { systemRandom } from '../../../src/ground/random.ts';
import type { ItemResult } from '../../../src/transit/batch.ts';
import { decrypt } from '../../../src/transit/decrypt.ts';
import { engineOf } from '../../../src/transit/engine.ts';
import { rewrap } from '../../../src/transit/rewrap.ts';
import { verify } from '../../../src/transit/verification.ts';
import type { Chance } from '../../chance.ts';
import { memoryStore } from '../../store/memory-store.ts';

import { goSamples, restoreGoKeys, type Sample } from '../go-keys.ts';
import { anyText, shorterTexts, spoiledText } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { unchanged } from '../store-content.ts';
import { Defect, target, type World } from '../target.ts';

/** One call of the engine. */
interface Call {
  readonly operation: 'decrypt' | 'rewrap' | 'verify';
  readonly sample: Sample;
}

/** Keys whose operations take a hundred times longer than others get a tenth of the cases. */
const isSlow = ({ key }: Sample): boolean => /^(?:vault-)?rsa|^ecdsa-p(?:384|521)/.test(key);
const quickSamples = goSamples.filter((sample) => !isSlow(sample));
const slowSamples = goSamples.filter(isSlow);
const texts = goSamples.map(({ text }) => text);
const contexts = ['', 'bXktY29udGV4dA==', 'AAAA'];
const hashes = [
  'sha1',
  'sha2-224',
  'sha2-256',
  'sha2-384',
  'sha2-512',
  'sha3-224',
  'sha3-256',
  'sha3-512',
  'none',
  '',
];

/** Payloads that were really made with a key, in bytes: no other may open or verify. */
const payloadOf = (text: string): string =>
  Buffer.from(text.slice(text.lastIndexOf(':') + 1), 'base64').toString('hex');
const genuine = new Set(goSamples.map(({ key, text }) => `${key} ${payloadOf(text)}`));

const secretMessage = Buffer.from('the quick brown fox');

async function open(_chance: Chance, secrets: Secrets): Promise<World<Call>> {
  const clock = { now: () => 1_772_352_000_500 };
  const store = await memoryStore({ clock });
  const mount = { type: 'transit', path: 'transit', description: '', accessor: 'a', uuid: 'u', options: {} };
  const engine = engineOf({ store, clock, random: systemRandom, mount, dialect: 'service' });
  secrets.add('a plaintext', secretMessage.toString());
  await restoreGoKeys(engine, secrets);
  const requireUnchanged = await unchanged(store);

  const run = async ({ operation, sample }: Call): Promise<readonly ItemResult<unknown>[]> => {
    const { key, text, message, context, nonce, associated_data } = sample;
    const beside = {
      context,
      nonce,
      associatedData: associated_data,
    };
    if (operation === 'decrypt') return decrypt(engine, key, [{ ciphertext: text, ...beside }]);
    if (operation === 'rewrap') return rewrap(engine, key, [{ ciphertext: text, ...beside }]);
    const item = sample.kind === 'hmac' ? { hmac: text } : { signature: text };
    const request = {
      hashAlgorithm: sample.hash_algorithm ?? 'sha2-256',
      prehashed: false,
      signatureAlgorithm: sample.signature_algorithm ?? '',
      marshalingAlgorithm: sample.marshaling_algorithm ?? 'asn1',
      saltLength: 'auto',
    };
    return verify(engine, key, [{ input: message, ...beside, ...item }], { request, single: true });
  };

  return {
    generate,
    async check(call) {
      const outcome = await secrets.outcome(() => run(call));
      if ('refused' in outcome) return;
      for (const result of outcome.value) {
        if ('error' in result) secrets.examineError(result.error);
        else requireGenuine(call, result.value);
      }
    },
    print: (call) => JSON.stringify(call),
    *simpler({ operation, sample }) {
      for (const text of shorterTexts(sample.text)) yield { operation, sample: { ...sample, text } };
    },
    async close() {
      await requireUnchanged();
      store.close();
    },
  };
}

function requireGenuine({ operation, sample }: Call, value: unknown): void {
  if (operation === 'verify' && value !== true) return;
  if (!genuine.has(`${sample.key} ${payloadOf(normal(sample.text))}`)) {
    throw new Defect(`${operation} took a text that was never made`);
  }
  if (operation === 'decrypt' && !secretMessage.equals(value as Buffer)) {
    throw new Defect(`decrypt gave another plaintext: ${String(value)}`);
  }
}

/** Line breaks in base64 count for nothing. */
const normal = (text: string): string => text.replaceAll(/[\r\n]/g, '');

function generate(chance: Chance): Call {
  const sample = chance.pick(chance.oneIn(10) ? slowSamples : quickSamples);
  const operation =
    sample.kind === 'decrypt' ? chance.pick(['decrypt', 'decrypt', 'rewrap'] as const) : 'verify';
  const text = chance.oneIn(10) ? reshaped(chance, sample.text) : spoiledText(chance, sample.text, texts);
  const spoiled: Sample = { ...sample, text };
  if (!chance.oneIn(4)) return { operation, sample: spoiled };
  return {
    operation: chance.pick(['decrypt', 'rewrap', 'verify']),
    sample: {
      ...spoiled,
      kind: chance.pick(['decrypt', 'verify', 'hmac']),
      context: chance.oneIn(2) ? chance.pick(contexts) : anyText(chance),
      nonce: chance.oneIn(2) ? anyText(chance) : undefined,
      associated_data: chance.oneIn(3) ? anyText(chance) : undefined,
      hash_algorithm: chance.oneIn(4) ? anyText(chance) : chance.pick(hashes),
      signature_algorithm: chance.oneIn(4) ? anyText(chance) : chance.pick(['', 'pss', 'pkcs1v15']),
      marshaling_algorithm: chance.oneIn(4) ? anyText(chance) : chance.pick(['asn1', 'jws']),
    },
  };
}

const starts = [
  'vault:v',
  'service:v',
  'vault:V',
  'vault',
  'service:v-',
  'service:v+',
  'service:v0',
  'vault:vv',
  '',
];
const versions = [
  '1',
  '2',
  '11',
  '12',
  '0',
  '-1',
  '+1',
  '01',
  '1.0',
  '1e0',
  '',
  ' 1',
  '9223372036854775807',
  '9'.repeat(30),
];

/** The same payload with another start. */
function reshaped(chance: Chance, text: string): string {
  const payload = text.slice(text.lastIndexOf(':') + 1);
  return `${chance.pick(starts)}${chance.pick(versions)}${chance.pick([':', '::', '', '='])}${payload}`;
}

export const ciphertexts = target<Call>({ name: 'ciphertexts', cases: 200_000, open });
