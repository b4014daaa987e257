import { deepEqual } from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { ROOT_TOKEN, withOpenBao } from '../bao/dev-server.ts';
import { installBao, version as openBaoVersion } from '../bao/openbao.ts';
import type { Bench, Client, Run } from '../client.ts';
import { goTests } from '../go.ts';
import { PROVIDER } from '../terraform/provider.ts';
import { installTofu } from '../tofu/install.ts';

/** What OpenBao passes and this server does not, by the reason. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'mounts other engines (kv, pki)': [
    'TestZeroTTLDoesNotCauseUpdate',
    'TestResourceMount',
    'TestResourceMount_Local',
    'TestResourceMount_SealWrap',
    'TestResourceMount_AuditNonHMACRequestKeys',
    'TestResourceMount_AllowedResponseHeaders_Removal',
    'TestResourceMount_AllowedResponseHeaders_EmptySlice',
    'TestResourceMount_KVV2',
  ],
  'turns OCSP on, which is refused': ['TestCertAuthBackend_OCSP'],
  'makes entities of users': ['TestResourceGenericEndpoint'],
};

/** Tests of the provider's package `vault`, by what they are about. */
const SUBJECTS = {
  mounts: 'TestZeroTTL.*|TestResourceMount.*',
  'keys, and what they encrypt and sign':
    'TestTransitSecretBackendKey_.*|TestAccTransitCacheConfig|TestDataSourceTransit.*',
  'tokens and token roles': 'TestResourceToken_.*|TestAccTokenAuthBackendRole.*',
  'policies, quotas and headers in the trail':
    'TestResourcePolicy|TestDataSourcePolicyDocument|TestQuota.*|TestAuditRequestHeader',
  'secret IDs and AppRoles': 'TestAccAppRoleAuthBackend.*',
  'login methods, and users by generic requests':
    'TestAccAuthBackend.*|TestDataSourceAuthBackends?|TestResourceGenericEndpoint',
  'signed tokens': 'TestAccJWTAuthBackend.*|TestJWTAuthBackend_remount',
  certificates: 'TestCertAuthBackend.*',
} as const;

/** @returns the names of tests that passed. */
async function passed(
  bench: Bench,
  names: string,
  server: { readonly address: string; readonly token: string },
): Promise<ReadonlySet<string>> {
  const { run, installed } = bench;
  const parameters = ['-test.v', '-test.parallel=1', `-test.run=^(${names})$`];
  const environment = {
    TF_ACC: '1',
    ...(await terraform(bench)),
    CHECKPOINT_DISABLE: '1',
    VAULT_ADDR: server.address,
    VAULT_TOKEN: server.token,
  };
  const directory = join(dirname(installed), 'source', 'vault');
  // Some fail at both, and end the program with 1.
  const said = await run('bash', ['-c', '"$@" || true', 'tests', installed, ...parameters], {
    directory,
    environment,
  });
  return new Set([...said.matchAll(/^--- PASS: (\S+) /gm)].map(([, test = '']) => test));
}

/** The path of Terraform, where the machine has it; else an empty text. */
const terraformOf = async (run: Run): Promise<string> =>
  (await run('bash', ['-c', 'command -v terraform || true'])).trim();

/** Terraform, or OpenTofu, which takes providers that say no host for those of a registry of its own. */
async function terraform({ run, installed }: Bench): Promise<Readonly<Record<string, string>>> {
  const found = await terraformOf(run);
  if (found !== '') return { TF_ACC_TERRAFORM_PATH: found };
  return {
    TF_ACC_TERRAFORM_PATH: join(commands(installed), 'tofu'),
    TF_ACC_PROVIDER_HOST: 'registry.opentofu.org',
    TF_ACC_PROVIDER_NAMESPACE: 'hashicorp',
  };
}

/** Where Go puts commands, seen from the tests. */
const commands = (installed: string): string => join(dirname(installed), '../../go/bin');

/** Runs tests here and at OpenBao: all that pass there pass here, but for those that are known. */
const compared =
  (names: string) =>
  async (bench: Bench): Promise<void> => {
    // Some of the tests mount it themselves.
    await bench.coffer(['mounts', 'remove', 'transit', '--yes']);
    const here = await passed(bench, names, bench);
    const there = await withOpenBao(join(commands(bench.installed), 'bao'), bench.directory, (address) =>
      passed(bench, names, { address, token: ROOT_TOKEN }),
    );
    console.log(`     ${here.size} pass here, ${there.size} at OpenBao`);
    const missing = [...there].filter((test) => !here.has(test));
    const known = Object.values(ELSEWHERE).flat();
    deepEqual(missing.sort(), known.filter((test) => there.has(test)).sort());
  };

export const client: Client = {
  title: 'Terraform’s provider, with tests of its own',
  version: `5.9.0, beside OpenBao ${openBaoVersion}`,
  minutes: 60,
  async install(machine) {
    if ((await terraformOf(machine.run)) === '') await installTofu(machine);
    await installBao(machine);
    return goTests(machine, PROVIDER.module, PROVIDER.version, 'vault');
  },
  checks: Object.fromEntries(
    Object.entries(SUBJECTS).map(([what, names]) => [
      `passes what OpenBao passes of ${what}`,
      compared(names),
    ]),
  ),
};
