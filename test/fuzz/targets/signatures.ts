import { createHash } from 'node:crypto';
import { parseAllowedSigners } from '../../../src/signatures/allowed-signers.ts';
import { parseManifest, printManifest } from '../../../src/signatures/manifest.ts';
import {
  isMinisignSignature,
  parseMinisignSignature,
  verifyMinisign,
} from '../../../src/signatures/minisign.ts';
import { parsePublicKeys } from '../../../src/signatures/public-key.ts';
import {
  armorSshSignature,
  isSshSignature,
  parseSshSignature,
  verifySshSignature,
} from '../../../src/signatures/ssh-signature.ts';
import type { Chance } from '../../chance.ts';
import {
  MESSAGE,
  MINISIGN_KEY,
  MINISIGN_SIGNATURES,
  SSH_SIGNATURES,
} from '../../signatures/made-by-others.ts';
import { shorterTexts, spoiledText } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

/** Texts that strangers send along with a file: signatures, keys, who may sign, lists. */
const keyTexts = [MINISIGN_KEY, ...SSH_SIGNATURES.map(({ line }) => line)];
const signatureTexts = [...MINISIGN_SIGNATURES, ...SSH_SIGNATURES.map(({ signature }) => signature)];
const signerTexts = SSH_SIGNATURES.map(
  ({ line }) => `a@*,!b namespaces="file",valid-after="20260101Z" ${line}\n`,
);
const listTexts = [`${'a'.repeat(64)}  a/b\n\\${'B'.repeat(64)} *c\\\\d\\n\n`];
const all = [...keyTexts, ...signatureTexts, ...signerTexts, ...listTexts];

/** Changes behind the armor are of more use than changes of it. */
function spoiledArmor(chance: Chance, text: string): string {
  const lines = text.trimEnd().split('\n');
  const bytes = Buffer.from(lines.slice(1, -1).join(''), 'base64');
  for (let times = chance.size(3); times > 0; times--) bytes[chance.below(bytes.length)] = chance.below(256);
  return [lines[0], bytes.toString('base64'), lines.at(-1), ''].join('\n');
}

const trusted = () => keyTexts.flatMap((text) => parsePublicKeys(text).map(({ key }) => key));
const originals = new Set<string>(signatureTexts);

async function open(_: Chance, secrets: Secrets): Promise<World<string>> {
  const keys = trusted();
  const read = <T>(parse: () => T): T | undefined => {
    const outcome = secrets.outcomeNow(parse);
    if ('value' in outcome) return outcome.value;
    if (outcome.refused.kind !== 'invalid' && outcome.refused.kind !== 'unsupported') throw outcome.refused;
    return undefined;
  };
  return {
    generate(chance) {
      const text = chance.pick(all);
      return isSshSignature(text) && chance.oneIn(2)
        ? spoiledArmor(chance, text)
        : spoiledText(chance, text, all);
    },
    check(text) {
      read(() => parsePublicKeys(text));
      read(() => parseAllowedSigners(text));
      const sums = read(() => parseManifest(text));
      if (sums?.some(({ name }) => name.split(/[/\\]/).includes('..')))
        throw new Defect('a name leads outside');
      if (sums !== undefined) parseManifest(printManifest(sums));
      if (isSshSignature(text)) checkSsh(text);
      if (isMinisignSignature(text)) checkMinisign(text);
    },
    print: (text) => text,
    simpler: shorterTexts,
    close: () => undefined,
  };

  function checkSsh(text: string): void {
    const found = read(() => parseSshSignature(text));
    if (found === undefined || originals.has(armorSshSignature(found))) return;
    const isTrusted = keys.some((key) => key.equals(found.key));
    const digest = createHash(found.hash).update(MESSAGE).digest();
    const valid = isTrusted && found.namespace === 'file' && read(() => verifySshSignature(found, digest));
    if (valid) throw new Defect('a signature that nobody made is valid');
  }

  function checkMinisign(text: string): void {
    const found = read(() => parseMinisignSignature(text));
    if (found === undefined) return;
    const data = found.hashed ? createHash('blake2b512').update(MESSAGE).digest() : Buffer.from(MESSAGE);
    const isKnown = MINISIGN_SIGNATURES.some((known) =>
      parseMinisignSignature(known).signature.equals(found.signature),
    );
    const valid = keys.some((key) => key.asymmetricKeyType === 'ed25519' && verifyMinisign(found, key, data));
    if (valid && !isKnown) throw new Defect('a signature that nobody made is valid');
  }
}

export const signatures = target<string>({ name: 'signatures', cases: 30_000, open });
