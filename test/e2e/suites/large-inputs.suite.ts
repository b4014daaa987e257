import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Suite } from './index.ts';

const MEBI = 2 ** 20;

export const largeInputsSuite: Suite = (here) => {
  it.each([
    ['rsa-2048', ['--signature-algorithm', 'pkcs1v15', '--hash-algorithm', 'sha3-256']],
    ['rsa-2048', ['--hash-algorithm', 'sha2-512']],
    ['rsa-2048', ['--salt-length', 'hash']],
    ['ecdsa-p256', ['--hash-algorithm', 'sha2-512']],
    ['ecdsa-p521', ['--marshaling-algorithm', 'jws']],
    ['ed25519', []],
  ])('signs two mebibytes with %s and %j as it does in one piece', async (type, options) => {
    const name = `large-${type}`;
    await here().ok(`transit keys create ${name} --type ${type}`);
    const input = randomBytes(2 * MEBI);
    writeFileSync(here().file('two'), input);
    writeFileSync(here().file('two.base64'), input.toString('base64'));
    writeFileSync(here().file('other'), Buffer.concat([input.subarray(1), Buffer.alloc(1)]));
    // Base64 is always taken whole.
    const whole = ['--in', 'two.base64', '--base64', ...options];
    const sign = (from: readonly string[]) => here().ok(['transit', 'sign', name, ...from]);
    const verify = async (signature: string, from: readonly string[]) =>
      (await here().run(['transit', 'verify', name, '--signature', signature, ...from])).stdout;
    const large = ['--in', 'two', ...options];
    const signature = await sign(large);
    expect(await verify(signature, whole)).toBe('true\n');
    expect(await verify(await sign(whole), large)).toBe('true\n');
    expect(await verify(signature, ['--in', 'other', ...options])).toBe('false\n');
    if (type === 'ed25519' || options.includes('pkcs1v15')) expect(await sign(whole)).toBe(signature);
  });
};
