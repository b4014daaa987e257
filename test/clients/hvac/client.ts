import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';
import { withCertificates } from '../certified.ts';
import type { Bench, Client } from '../client.ts';

const version = '2.4.0';

const here = fileURLToPath(new URL('.', import.meta.url));

const python = (installed: string): string => join(installed, 'bin/python');

/** Tests of hvac's own, from its source distribution, where nothing but the start of a Vault is replaced. */
const ownTests =
  (file: string, outcome: string) =>
  async ({ run, installed }: Bench): Promise<void> => {
    const tests = join(installed, `hvac-${version}`);
    const said = await run(
      python(installed),
      // The plugin that runs them in several processes is not installed.
      ['-m', 'pytest', '-q', '-o', 'addopts=', '-p', 'no:cacheprovider', '-p', 'plain_server', file],
      {
        directory: join(tests, 'tests/integration_tests/api'),
        environment: { PYTHONPATH: `${here}:${tests}`, PYTHONDONTWRITEBYTECODE: '1' },
      },
    );
    // Tests that are skipped would pass as well.
    if (!said.includes(outcome)) throw new Error(`not ${outcome}:\n${said}`);
  };

export const client: Client = {
  title: 'hvac for Python, with tests of its own',
  version,
  minutes: 5,
  async install(machine) {
    const folder = machine.folder(`hvac-${version}`);
    await machine.need('python3', ['-m', 'venv', folder]);
    const pip = ['-m', 'pip', '--disable-pip-version-check', '-q'];
    await machine.need(python(folder), [...pip, 'install', '-r', join(here, 'requirements.txt')]);
    const source = ['download', '--no-deps', '--no-binary', 'hvac', '-d', folder, `hvac==${version}`];
    await machine.need(python(folder), [...pip, ...source]);
    const archive = join(folder, `hvac-${version}.tar.gz`);
    await machine.run(python(folder), ['-m', 'tarfile', '-e', archive, folder]);
    return folder;
  },
  checks: {
    'holds its tests of transit, but for two statuses': ownTests(
      'secrets_engines/test_transit.py',
      '45 passed, 2 xfailed',
    ),
    'holds its tests of tokens': ownTests('auth_methods/test_token.py', '13 passed'),
    'holds its tests of AppRole': ownTests('auth_methods/test_approle.py', '20 passed'),
    'holds its tests of wrapping': ownTests('system_backend/test_wrapping.py', '5 passed'),
    'holds its tests of login methods, but of one that is not there': ownTests(
      'system_backend/test_auth.py',
      '1 passed, 1 xfailed',
    ),
    'holds its tests of policies': ownTests('system_backend/test_policy.py', '4 passed'),
    'holds its tests of JWT, but for three with Vault as the issuer': ownTests(
      'auth_methods/test_jwt.py',
      '4 passed, 3 xfailed',
    ),
    'logs in with a name and a password': async ({ run, installed }) => {
      await run(python(installed), [join(here, 'userpass.py')]);
    },
    'logs in with a certificate, and is renewed with it alone': (bench) =>
      withCertificates(bench, ({ address, token, certificate }) =>
        bench.run(python(bench.installed), [join(here, 'certificate.py'), address, token, certificate]),
      ),
    'logs in with a signed token, as a job and as a pod': async ({ run, installed }) => {
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const now = Math.floor(Date.now() / 1000);
      const jwt = await new SignJWT({ sub: 'me', aud: 'hvac', iat: now, exp: now + 300 })
        .setProtectedHeader({ alg: 'RS256' })
        .sign(privateKey);
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
      await run(python(installed), [join(here, 'login.py'), pem, jwt], {
        environment: { PYTHONDONTWRITEBYTECODE: '1' },
      });
    },
  },
};
