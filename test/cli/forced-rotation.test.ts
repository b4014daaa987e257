import { expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';

it('rotates a signing key by the command that the refusal names, which gives the reason', async () => {
  const here = await DirectoryHere.withStore({});
  await here.ok('transit keys create orders');
  await here.ok('transit keys create rel --type ed25519');
  await here.ok('transit keys create mac --type hmac --key-size 32');
  const reason =
    'coffer: rotation without force is only supported for keys that encrypt: rel only signs, and verifiers need its new public key after a rotation';
  for (const [line, right, done = ''] of [
    ['transit keys rotate rel', 'transit keys rotate rel --force'],
    ['transit keys rotate orders rel', 'transit keys rotate rel --force', '; already done: orders'],
    ['write -f transit/keys/rel/rotate', 'write transit/keys/rel/rotate force=true'],
    ['write transit/keys/rel/rotate', 'write transit/keys/rel/rotate force=true'],
  ] as const) {
    const { exitCode, err } = await here.run(line);
    expect(err, line).toBe(`${reason}${done} (to rotate it: coffer ${right})\n`);
    expect(exitCode, line).toBe(2);
    await here.ok(right);
  }
  expect((await here.run('transit keys rotate mac')).err).toBe(
    'coffer: rotation without force is only supported for keys that encrypt: mac only computes HMACs, and programs that verify them outside Coffer need its new version after a rotation (to rotate it: coffer transit keys rotate mac --force)\n',
  );
});
