import {
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  sign,
} from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isGroup, type Node } from '../../../src/cli/command.ts';
import { OR_FILE } from '../../../src/cli/files/input.ts';
import { commandTree } from '../../../src/cli/tree.ts';
import { printMinisignKey } from '../../../src/signatures/minisign.ts';
import { sshLine } from '../../../src/signatures/ssh-key.ts';
import { DirectoryHere } from '../directory-here.ts';

const minisignText = (key: KeyObject): string => printMinisignKey(key).split('\n')[1] ?? '';

/** A key whose texts can be names of files, which have no slash. */
function ownerKey(): KeyPairKeyObjectResult {
  for (;;) {
    const pair = generateKeyPairSync('ed25519');
    const texts = [sshLine(pair.publicKey, 'release'), printMinisignKey(pair.publicKey), pem(pair)];
    if (!texts.some((text) => text.includes('/'))) return pair;
  }
}

const pem = ({ publicKey }: Pick<KeyPairKeyObjectResult, 'publicKey'>) =>
  String(publicKey.export({ format: 'pem', type: 'spki' }));
const owner = ownerKey();
const attacker = generateKeyPairSync('ed25519');
const transitSignature = (key: typeof owner, message: string): string => {
  const privateKey = createPrivateKey({ key: key.privateKey.export({ format: 'pem', type: 'pkcs8' }) });
  return `vault:v1:${sign(null, Buffer.from(message), privateKey).toString('base64')}`;
};

/** Keys as one types them. */
const KEYS: Readonly<Record<string, string>> = {
  'a line of OpenSSH': sshLine(owner.publicKey, 'release'),
  minisign: minisignText(owner.publicKey),
  'the whole file of minisign': printMinisignKey(owner.publicKey),
  PEM: pem(owner),
  'JSON Web Key': JSON.stringify(owner.publicKey.export({ format: 'jwk' })),
};

/** What is typed for each option and argument that takes a text or a file. */
const MEANT: Readonly<Record<string, (text: string) => readonly string[]>> = {
  // Run in test/e2e/team-commit.test.ts, since it needs a keyring.
  'team add RECIPIENT': (text) => ['team', 'add', 'bob', text],
  'verify --public-key': (text) => ['verify', 'app', 'app.sig', '--public-key', text],
  'verify SIGNATURE': (text) => ['verify', 'app', text, '--public-key', 'owner.pem'],
};

/** The name of every option and argument in the commands below that takes a text or a file. */
async function textsOrFiles(node: Node, path: readonly string[] = []): Promise<readonly string[]> {
  if (isGroup(node)) {
    const found = Object.entries(node.children).map(([name, child]) => textsOrFiles(child, [...path, name]));
    return (await Promise.all(found)).flat();
  }
  const command = await node.load();
  return [
    ...command.arguments.map(({ metavar }) => ({ name: metavar.replace(OR_FILE, ''), metavar })),
    ...command.options.map(({ flag, metavar = '' }) => ({ name: `--${flag}`, metavar })),
  ]
    .filter(({ metavar }) => metavar.endsWith(OR_FILE))
    .map(({ name }) => `${path.join(' ')} ${name}`);
}

describe('what takes a text or a file', () => {
  it('is known to these tests, whichever command has it', async () => {
    expect((await textsOrFiles(commandTree)).toSorted()).toEqual(Object.keys(MEANT).toSorted());
  });

  it.each(Object.entries(KEYS))(
    'takes a public key for the key, even if a file is named like it: %s',
    async (_, text) => {
      const here = DirectoryHere.make();
      here.write('app', 'of the attacker');
      here.write('app.sig', transitSignature(attacker, 'of the attacker'));
      const line = MEANT['verify --public-key']?.(text) ?? [];
      const before = await here.run(line);
      here.write(text, pem(attacker));
      expect(await here.run(line)).toEqual(before);
      expect(before).toMatchObject({ exitCode: 5, err: '' });
    },
  );

  it('takes a signature for the signature, even if a file is named like it', async () => {
    const here = DirectoryHere.make();
    here.write('app', 'a message');
    here.write('owner.pem', pem(owner));
    const text = transitSignature(attacker, 'a message').replaceAll('/', 'A');
    here.write(text, transitSignature(owner, 'a message'));
    const line = MEANT['verify SIGNATURE']?.(text) ?? [];
    expect(await here.run(line)).toMatchObject({ exitCode: 5, err: '' });
  });

  it('takes a file by its name, which may have spaces', async () => {
    const here = DirectoryHere.make();
    here.write('app', 'a message');
    here.write('app.sig', transitSignature(owner, 'a message'));
    for (const name of ['owner.pem', 'ssh-keys of ours', 'RWowner']) {
      here.write(name, pem(owner));
      expect(await here.ok(['verify', 'app', 'app.sig', '--public-key', name])).toContain('valid (transit');
    }
  });
});
