import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { readBackup } from '../../../src/transit/backup/restore-key.ts';
import { goBackup, goDocument, goEntry, type Members } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import certificates from '../../vectors/certificates.json' with { type: 'json' };

const read = (document: unknown) => readBackup(goBackup(document), undefined, systemRandom);

describe('a version with certificates', () => {
  const withChain = (key: Members) => {
    const [leaf = ''] = certificates.chain.map((pem) => pem.replace(/-----.*-----|\n/g, ''));
    return read(goDocument([goEntry({ ...key, certificate_chain: [leaf] })], { type: 1 }));
  };
  const numbersOf = (key: KeyObject): Members => {
    const { x, y, d } = key.export({ format: 'jwk' });
    const [ec_x, ec_y, ec_d] = [x, y, d].map((text) =>
      BigInt(`0x${Buffer.from(text ?? '', 'base64url').toString('hex')}`),
    );
    return { ec_x, ec_y, ec_d };
  };

  it('is restored when the first is one of its key, and refused when it is one of another', async () => {
    const own = await withChain(numbersOf(createPrivateKey(certificates.privateKey)));
    expect(own.versions['1']?.certificateChain).toHaveLength(1);
    const other = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
    expect(await rejectionOf(withChain(numbersOf(other)))).toMatchObject({
      kind: 'invalid',
      field: 'backup',
      message:
        'backup cannot be restored: version 1: leaf certificate public key does not match the selected key version',
    });
  });
});
