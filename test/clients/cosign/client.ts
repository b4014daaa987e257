import { match } from 'node:assert/strict';
import { type Bench, type Client, shell } from '../client.ts';
import { goInstall } from '../go.ts';

const version = '3.1.3';

/** Makes a key pair `release`, signs `release.tar` and verifies that: without a transparency log, of which there is none here. */
const lines = `
cosign generate-key-pair --kms hashivault://release
cosign sign-blob --key hashivault://release --yes --tlog-upload=false --use-signing-config=false --bundle release.json release.tar
cosign verify-blob --key hashivault://release --insecure-ignore-tlog --bundle release.json release.tar
`;

const withRelease = (bench: Bench, more: string): Promise<string> =>
  shell(bench, `echo 'a release' > release.tar\n${more}`);

const signed = (key: string, file: string): string =>
  `cosign sign-blob --key hashivault://${key} --yes --tlog-upload=false --use-signing-config=false --bundle ${file} release.tar`;

const verified = (key: string, file: string): string =>
  `cosign verify-blob --key ${key} --insecure-ignore-tlog --bundle ${file} release.tar`;

export const client: Client = {
  title: 'cosign',
  version,
  minutes: 5,
  install: (machine) => goInstall(machine, `github.com/sigstore/cosign/v3/cmd/cosign@v${version}`, 'cosign'),
  checks: {
    async 'makes a key pair, signs a file and verifies it'(bench) {
      await withRelease(bench, lines);
    },
    async 'refuses another file'(bench) {
      await withRelease(bench, `${lines}\necho 'another' > release.tar`);
      const refusal = await bench.refused('bash', ['-c', verified('hashivault://release', 'release.json')]);
      match(refusal, /failed to verify signature/);
    },
    async 'verifies with the public key alone, also what was signed after a rotation'(bench) {
      await withRelease(bench, 'cosign generate-key-pair --kms hashivault://rotated');
      await bench.coffer(['transit', 'keys', 'rotate', 'rotated', '--force']);
      await shell(
        bench,
        [
          signed('rotated', 'second.json'),
          'cosign public-key --key hashivault://rotated > second.pub',
          verified('second.pub', 'second.json'),
          `VAULT_KEY_PREFIX=vault:v2: ${verified('hashivault://rotated', 'second.json')}`,
        ].join('\n'),
      );
    },
    async 'signs with an RSA key, and verifies with its public key'(bench) {
      await bench.coffer(['transit', 'keys', 'create', 'rsa', '--type', 'rsa-2048']);
      await withRelease(
        bench,
        `${signed('rsa', 'rsa.json')}\ncosign public-key --key hashivault://rsa > rsa.pub\n${verified('rsa.pub', 'rsa.json')}`,
      );
    },
    async 'attests, and verifies the attestation'(bench) {
      const key = '--key hashivault://attester --type custom --bundle attested.json release.tar';
      const lines = [
        `echo '{"built": "here"}' > predicate.json`,
        'cosign generate-key-pair --kms hashivault://attester',
        `cosign attest-blob --yes --tlog-upload=false --use-signing-config=false --predicate predicate.json ${key}`,
        `cosign verify-blob-attestation --insecure-ignore-tlog ${key}`,
      ];
      await withRelease(bench, lines.join('\n'));
    },
  },
};
