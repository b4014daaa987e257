import { deepEqual, equal, match } from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nowSeconds, signingKey, signToken } from '../../servers/issuer.ts';
import { gitlabClaims } from '../../servers/issuer-claims.ts';
import { type Bench, type Client, shell } from '../client.ts';
import { goInstall } from '../go.ts';
import { installTofu, tofuVersion } from '../tofu/install.ts';
import { PROVIDER } from './provider.ts';
import { settable } from './provider-schema.ts';

const MEMBERS = new URL('../../vectors/terraform-provider-vault.json', import.meta.url);

const lines = `
tofu apply -auto-approve -input=false
tofu plan -detailed-exitcode -input=false
tofu destroy -auto-approve -input=false
`;

/** In a directory with the configuration, and where OpenTofu finds the provider without asking its registry. */
async function tofu(
  bench: Bench,
  lines: string,
  configuration = 'main.tf',
  variables: Readonly<Record<string, string | undefined>> = {},
): Promise<string> {
  const rc = join(bench.directory, 'tofu.rc');
  const override = `dev_overrides { "hashicorp/vault" = ${JSON.stringify(dirname(bench.installed))} }`;
  writeFileSync(rc, `provider_installation {\n  ${override}\n  direct {}\n}\n`);
  copyFileSync(fileURLToPath(new URL(configuration, import.meta.url)), join(bench.directory, 'main.tf'));
  const environment = {
    TF_CLI_CONFIG_FILE: rc,
    TF_CLI_ARGS: '-no-color',
    CHECKPOINT_DISABLE: '1',
    ...variables,
  };
  return shell(bench, lines, { environment });
}

/** What a job of GitLab brings, and the key that it is verified with. */
async function gitLabJob(): Promise<{ readonly job: string; readonly key: string }> {
  const key = signingKey();
  const now = nowSeconds();
  const times = { iat: now, nbf: now, exp: now + 3600 };
  const job = await signToken(key, { ...gitlabClaims, ...times, iss: 'https://gitlab.example.com' });
  return { job, key: key.publicPem };
}

export const client: Client = {
  title: 'Terraform’s provider',
  version: `5.9.0 with OpenTofu ${tofuVersion}`,
  minutes: 10,
  async install(machine) {
    await goInstall(machine, `${PROVIDER.module}@${PROVIDER.version}`, 'terraform-provider-vault');
    return installTofu(machine);
  },
  checks: {
    async 'has the members that the tests of Coffer walk through'(bench) {
      const kept: unknown = JSON.parse(readFileSync(MEMBERS, 'utf8'));
      deepEqual(settable(await tofu(bench, 'tofu providers schema -json')), kept);
    },
    async 'makes mounts, keys of every type, a cache and a policy, plans no change, and destroys them'(
      bench,
    ) {
      const output = await tofu(bench, lines);
      match(output, /^Apply complete! Resources: 16 added, 0 changed, 0 destroyed\.$/m);
      match(output, /^No changes\./m);
      match(output, /^Destroy complete! Resources: 16 destroyed\.$/m);
      equal(await bench.coffer(['mounts', 'list']), 'transit/\n');
    },
    async 'moves a mount with its keys, changes settings, and plans no change'(bench) {
      const output = await tofu(
        bench,
        `tofu apply -auto-approve -input=false
        export TF_VAR_path=shop/payments TF_VAR_size=600
        tofu apply -auto-approve -input=false
        tofu plan -detailed-exitcode -input=false
        tofu destroy -auto-approve -input=false`,
      );
      match(output, /^vault_mount\.payments: Modifications complete .*\[id=shop\/payments\]$/m);
      match(output, /^No changes\./m);
    },
    async 'encrypts and decrypts as data sources'(bench) {
      await tofu(bench, 'tofu apply -auto-approve -input=false');
      equal(await tofu(bench, 'tofu output -raw opened'), 'a secret');
      await tofu(bench, 'tofu destroy -auto-approve -input=false');
    },
    async 'takes over what is there already'(bench) {
      await bench.coffer(['mounts', 'add', 'payments', '--description', 'made by hand']);
      const hmac = ['--type', 'hmac', '--key-size', '64', '--mount', 'payments'];
      await bench.coffer(['transit', 'keys', 'create', 'hmac', ...hmac]);
      const output = await tofu(
        bench,
        `tofu import vault_mount.payments payments
        tofu import vault_transit_secret_backend_key.hmac payments/keys/hmac
        tofu apply -auto-approve -input=false
        tofu plan -detailed-exitcode -input=false
        tofu destroy -auto-approve -input=false`,
      );
      match(output, /^Apply complete! Resources: 14 added, 2 changed, 0 destroyed\.$/m);
      match(output, /^No changes\./m);
    },
    async 'makes login methods, their roles and token roles, plans no change, and destroys them'(bench) {
      const variables = { TF_VAR_public_key: (await gitLabJob()).key };
      const output = await tofu(bench, lines, 'logins.tf', variables);
      match(output, /^Apply complete! Resources: 9 added, 0 changed, 0 destroyed\.$/m);
      match(output, /^No changes\./m);
      match(output, /^Destroy complete! Resources: 9 destroyed\.$/m);
      equal(await bench.coffer(['auth', 'list']), 'token/\n');
    },
    async 'makes keys of ML-DSA and SLH-DSA by everybody’s names, and plans no change'(bench) {
      const output = await tofu(bench, lines, 'quantum.tf');
      match(output, /^Apply complete! Resources: 9 added, 0 changed, 0 destroyed\.$/m);
      match(output, /^No changes\./m);
      match(output, /^Destroy complete! Resources: 9 destroyed\.$/m);
    },
    async 'logs in with the token of a job'(bench) {
      const { job, key } = await gitLabJob();
      const run = (words: string) => bench.coffer(words.split(' '));
      await run('auth enable jwt --path jobs');
      writeFileSync(join(bench.directory, 'key.pem'), key);
      writeFileSync(
        join(bench.directory, 'admin.hcl'),
        'path "*" { capabilities = ["sudo", "create", "read", "update", "delete", "list"] }',
      );
      await run('auth jwt configure --path jobs --jwt-validation-pubkeys @key.pem');
      await run('policy write admin admin.hcl');
      await run(
        'auth jwt write admin --path jobs --user-claim project_path --bound-audiences https://vault.example.com --token-policies admin',
      );
      const nobody = { VAULT_TOKEN: undefined, BAO_TOKEN: undefined, TF_VAR_job_token: job };
      const output = await tofu(bench, lines, 'as-job.tf', nobody);
      match(output, /^Apply complete! Resources: 1 added/m);
      match(output, /^No changes\./m);
      match(output, /^Destroy complete! Resources: 1 destroyed\.$/m);
      await run('auth disable jobs --yes');
      await run('policy delete admin --yes');
    },
  },
};
