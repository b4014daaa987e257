import type { KeyObject } from 'node:crypto';
import { ownWords, unlessRefused, unsupported } from '../ground/errors.ts';
import { hashNamed } from './hashing.ts';
import { keyTypes } from './key-types/index.ts';
import type { SignatureOptions, Signing } from './key-types/key-type.ts';
import { type SignatureRequest, signatureOptions } from './signing.ts';
import { decodeSignature } from './verification.ts';

/**
 * Creates a verifier of transit signatures that needs no store.
 * @throws `unsupported` for a key type that named keys do not have; `invalid` for the request
 */
export function publicVerifier(key: KeyObject, request: SignatureRequest) {
  const { signing, material } = signingOf(key);
  const asked = signatureOptions(request);
  const hash = signing.signsHashes && !asked.prehashed ? hashNamed(asked.hash)?.nodeName : undefined;
  const options: SignatureOptions = hash === undefined ? asked : { ...asked, prehashed: true };
  return {
    /**
     * Hash, by its name in `node:crypto`: {@link verify} then takes the hash of the input; absent if it takes the input
     * itself.
     */
    hash,
    /**
     * Verifies a signature.
     * @param input the input, or its digest
     * @param payload part of the signature after the version
     * @throws `invalid` for a malformed signature, or options that do not fit the key
     */
    async verify(input: Uint8Array, payload: string): Promise<boolean> {
      const signature = decodeSignature(payload, options);
      return signature !== undefined && signing.verify(material, input, signature, options);
    },
  };
}

/** Finds the type of a key: the only one that can import it. */
function signingOf(key: KeyObject): { readonly signing: Signing<unknown>; readonly material: unknown } {
  const pem = key.export({ format: 'pem', type: 'spki' }).toString();
  for (const { signing, importing, open } of keyTypes()) {
    if (signing === undefined || importing?.publicKey === undefined) continue;
    const read = importing.publicKey;
    const found = unlessRefused(() => ({ signing, material: open(read(pem)) }), undefined);
    if (found !== undefined) return found;
  }
  throw unsupported(ownWords('unsupported public key type'), {
    hint: 'use the output of "coffer transit keys public NAME"',
  });
}
