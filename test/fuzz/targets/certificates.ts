import { createPrivateKey, createPublicKey, verify as nodeVerify, X509Certificate } from 'node:crypto';
import { systemRandom } from '../../../src/ground/random.ts';
import { setCertificateChain } from '../../../src/transit/certificates/chain.ts';
import { certificateRequest } from '../../../src/transit/certificates/request.ts';
import { engineOf } from '../../../src/transit/engine.ts';
import { deriveKey } from '../../../src/transit/key-exchange/derive-key.ts';
import { storedKey } from '../../../src/transit/key-types/key-pair.ts';
import type { Chance } from '../../chance.ts';
import { memoryStore } from '../../store/memory-store.ts';
import { knownKey, knownVersion, storeKey } from '../../transit/known-key.ts';
import samples from '../../vectors/certificates.json' with { type: 'json' };
import { secretPart } from '../go-keys.ts';
import { shorterTexts, spoiledBytes, spoiledText } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { unchanged } from '../store-content.ts';
import { Defect, target, type World } from '../target.ts';

/** PEM that comes from outside: a request to take over, certificates to keep, a public key to agree with. */
interface Pem {
  readonly form: 'request' | 'chain' | 'peer';
  readonly text: string;
}

const { requests, chain, peerPublicKey } = samples;
const KEY = knownKey('ecdsa-p256', [
  { ...knownVersion(Buffer.alloc(0)), ...storedKey(createPrivateKey(samples.privateKey)) },
]);
const publicKey = createPublicKey(samples.privateKey);

const labelOf = (pem: string): string => /-----BEGIN (.+)-----/.exec(pem)?.[1] ?? '';
const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----.*-----|\n/g, ''), 'base64');
const pemOf = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${der.toString('base64')}\n-----END ${label}-----\n`;
const ders = [...requests, ...chain].map(derOf);

/** PEM that is right, with something wrong in its bytes, or in its text. */
const spoiled = (chance: Chance, pem: string): string =>
  chance.oneIn(4)
    ? spoiledText(chance, pem, [...requests, ...chain])
    : pemOf(labelOf(pem), spoiledBytes(chance, derOf(pem), ders));

function generate(chance: Chance): Pem {
  const way = chance.below(10);
  if (way < 6) return { form: 'request', text: spoiled(chance, chance.pick(requests)) };
  if (way < 7) return { form: 'peer', text: spoiled(chance, peerPublicKey) };
  const certificates = chain.slice(0, 1 + chance.below(chain.length));
  const at = chance.below(certificates.length);
  const text = certificates.map((pem, index) => (index === at ? spoiled(chance, pem) : pem)).join('');
  return { form: 'chain', text };
}

/** The values in DER, one behind the other: a reader that shares nothing with the program's. */
function* valuesIn(der: Buffer): Generator<{ readonly bytes: Buffer; readonly content: Buffer }> {
  for (let at = 0; at < der.length; ) {
    const first = der[at + 1] ?? 0;
    const octets = first < 0x80 ? 0 : first - 0x80;
    const start = at + 2 + octets;
    const end = start + (octets === 0 ? first : der.readUIntBE(at + 2, octets));
    yield { bytes: der.subarray(at, end), content: der.subarray(start, end) };
    at = end;
  }
}

function requireSigned(pem: string): void {
  const [request, ...more] = valuesIn(derOf(pem));
  const [info, , signature] = valuesIn(request?.content ?? Buffer.alloc(0));
  const bits = [...valuesIn(signature?.bytes ?? Buffer.alloc(0))][0]?.content.subarray(1);
  const isSigned = info && bits && more.length === 0 && nodeVerify('sha256', info.bytes, publicKey, bits);
  if (!isSigned) throw new Defect(`a request is not signed: ${pem}`);
}

async function open(_chance: Chance, secrets: Secrets): Promise<World<Pem>> {
  secrets.add('the private key', secretPart(Buffer.from(KEY.versions['1']?.secret ?? '', 'base64')));
  const clock = { now: () => 1_772_352_000_500 };
  const store = await memoryStore({ clock });
  const mount = { type: 'transit', path: 'transit', description: '', accessor: 'a', uuid: 'u', options: {} };
  const engine = engineOf({ store, clock, random: systemRandom, mount, dialect: 'service' });
  await storeKey(engine, KEY);
  const requireUnchanged = await unchanged(store);
  let kept = false;
  const checks: Readonly<Record<Pem['form'], (text: string) => Promise<void>>> = {
    async request(template) {
      const outcome = await secrets.outcome(() =>
        certificateRequest(engine, KEY.name, { version: undefined, template }),
      );
      if (!('value' in outcome)) return;
      requireSigned(outcome.value.pem);
    },
    async chain(pem) {
      const outcome = await secrets.outcome(() => setCertificateChain(engine, KEY.name, { version: 1, pem }));
      if (!('value' in outcome)) return;
      kept = true;
      const [leaf] = outcome.value.document.versions['1']?.certificateChain ?? [];
      if (!new X509Certificate(Buffer.from(leaf ?? '', 'base64')).publicKey.equals(publicKey)) {
        throw new Defect('a certificate is kept for another key');
      }
    },
    async peer(text) {
      const wanted = { algorithm: 'ecdh', peerPublicKey: text, baseKeyName: KEY.name, baseKeyVersion: 0 };
      const outcome = await secrets.outcome(() =>
        deriveKey(engine, 'derived', { ...wanted, type: undefined }),
      );
      if (!('value' in outcome)) return;
      kept = true;
      await store.transact(async (tx) => tx.delete({ collection: engine.keys, id: 'derived' }));
    },
  };
  return {
    generate,
    check: ({ form, text }) => checks[form](text),
    print: (input) => JSON.stringify(input),
    *simpler({ form, text }) {
      for (const shorter of shorterTexts(text)) yield { form, text: shorter };
    },
    async close() {
      if (!kept) await requireUnchanged();
      store.close();
    },
  };
}

export const certificates = target<Pem>({ name: 'certificates', cases: 20_000, open });
