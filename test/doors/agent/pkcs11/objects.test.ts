import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { signatureBytes } from '../../../../src/doors/agent/pkcs11/keys.ts';
import { objectsOf } from '../../../../src/doors/agent/pkcs11/objects.ts';
import { ATTRIBUTE as A } from '../../../../src/doors/agent/pkcs11/rpc/attributes.ts';
import { CURVES } from '../../../../src/ground/curves.ts';

it.each(CURVES)(
  'an object of a key on $jwkName names the curve as its certificates would',
  ({ opensslName, coordinateBytes }) => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: opensslName });
    const kind = 'ec' as const;
    const [object] = objectsOf([
      {
        offer: { mount: 'transit', key: 'web', uses: ['sign'], confirm: false },
        version: 1,
        isLatest: true,
        kind,
        publicKey,
        publicKeyPem: '',
        certificateChain: '',
        signs: true,
        decrypts: false,
      },
    ]);
    const parameters = object?.attributes.get(A.ecParams) as Buffer;
    expect(parameters.length).toBeGreaterThan(0);
    expect(publicKey.export({ format: 'der', type: 'spki' }).includes(parameters)).toBe(true);
    expect(signatureBytes({ kind, publicKey })).toBe(2 * coordinateBytes);
  },
);
