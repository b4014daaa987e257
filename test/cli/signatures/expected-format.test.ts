import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { minisignCommentData, printMinisignKey } from '../../../src/signatures/minisign.ts';
import { sshLine } from '../../../src/signatures/ssh-key.ts';
import { sshSignedData } from '../../../src/signatures/ssh-signature.ts';
import { DirectoryHere } from '../directory-here.ts';

const owner = generateKeyPairSync('ed25519');
const line = sshLine(owner.publicKey, 'me');
const signed = (bytes: Uint8Array): string =>
  `vault:v1:${sign(null, bytes, owner.privateKey).toString('base64')}`;

/** A directory with the public key in each form, and a file with its bare signature. */
function directoryWith(bytes: Uint8Array): DirectoryHere {
  const here = DirectoryHere.make();
  here.write('app', bytes);
  here.write('app.sig', signed(bytes));
  here.write('key.pem', String(owner.publicKey.export({ format: 'pem', type: 'spki' })));
  here.write('key.pub', line);
  here.write('key.minisign', printMinisignKey(owner.publicKey));
  here.write('signers', `me ${line}\n`);
  return here;
}

/** What the key has signed for git, as a commit shows it to everybody. */
const commit = sshSignedData('git', 'sha512', Buffer.alloc(64, 1));
const comment = minisignCommentData(Buffer.alloc(64, 1), 'timestamp:1\tfile:a\thashed');
const SIGNERS = '--allowed-signers signers --identity me';

describe('a signature of the transit engine', () => {
  it.each(['--public-key key.pem', '--public-key key.pub', '--public-key key.minisign', SIGNERS])(
    'is none over what an SSH key has signed for another namespace: %s',
    async (trust) => {
      const here = directoryWith(commit);
      const { exitCode, out } = await here.run(`verify app ${trust}`);
      expect({ exitCode, out }).toMatchObject({
        exitCode: 5,
        out: expect.stringContaining('app: not valid: ') as string,
      });
    },
  );

  it('is none over what an SSH key has signed, even if its format is asked for', async () => {
    const here = directoryWith(commit);
    for (const file of ['app', '-']) {
      const verify = `verify ${file} app.sig --public-key key.pem --format transit`;
      expect((await here.run(verify, { input: commit })).out).toBe(
        `${file}: not valid: the file begins with "SSHSIG", like the data that SSH signs in place of a file: the signature may be that of another file\n`,
      );
    }
  });

  it.each(['--public-key key.pub', '--public-key key.minisign', SIGNERS])(
    'is not taken by itself for a key whose form says that it signs otherwise: %s',
    async (trust) => {
      const here = directoryWith(comment);
      expect(await here.run(`verify app ${trust}`)).toMatchObject({ exitCode: 5 });
    },
  );

  it('is taken for such a key when it is asked for, and for a PEM by itself', async () => {
    const here = directoryWith(Buffer.from('a message'));
    for (const trust of ['key.pub --format transit', 'key.minisign --format transit', 'key.pem']) {
      expect(await here.ok(`verify app --public-key ${trust}`)).toBe('app: valid (transit, version 1)');
    }
  });

  it('is not one of another format that is asked for, which is told', async () => {
    const here = directoryWith(Buffer.from('a message'));
    expect((await here.run('verify app --public-key key.pem --format ssh')).out).toBe(
      'app: not valid: the signature has the format transit, not ssh\n',
    );
    expect(await here.refused('verify app --public-key key.pem --format gpg', 2)).toContain('--format');
  });
});
