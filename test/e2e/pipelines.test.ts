import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Claims, type Issuer, startIssuer } from '../servers/issuer.ts';
import { githubClaims, gitlabClaims, kubernetesClaims } from '../servers/issuer-claims.ts';
import { cleanUpAfterAll } from '../servers/serving.ts';
import { emptyPlace, type Place, type Result, removePlace } from './harness.ts';
import { server } from './server.ts';

/* The page on scripts and pipelines, word for word, but for addresses: against a server, and an issuer with keys of its own. */

const page = readFileSync(fileURLToPath(new URL('../../docs/scripts-and-ci.md', import.meta.url)), 'utf8');

/** The block of a language that stands under a mark. */
function block(mark: string, language: string): string {
  const found = page.split(`<!-- ${mark} -->\n\`\`\`${language}\n`)[1]?.split('```')[0];
  if (found === undefined) throw new Error(`no ${language} for ${mark} on the page`);
  return found;
}

const finished = cleanUpAfterAll();
let running: Awaited<ReturnType<typeof server.start>>;
let owner: Place;
let address = '';
let issuer: Issuer;

beforeAll(async () => {
  [running, issuer] = await Promise.all([server.start(), startIssuer({}, finished)]);
  owner = running.place;
  address = owner.environment()['COFFER_ADDR'] ?? '';
  await owner.ok('transit keys create releases --type ed25519');
  await owner.ok('transit keys create app');
  writeFileSync(owner.file('release.hcl'), block('policy', 'hcl'));
  writeFileSync(owner.file('cluster-ca.pem'), issuer.ca);
});

afterAll(() => running.stop());

const here = (text: string): string =>
  text
    .replaceAll('https://coffer.example.com:8200', address)
    .replaceAll(
      /--oidc-discovery-url \S+/g,
      `--oidc-discovery-url ${issuer.url} --oidc-discovery-ca-pem @cluster-ca.pem`,
    )
    .replaceAll(/--jwks-url \S+/g, `--jwks-url ${issuer.jwksUrl}`);

const setUp = async (platform: string): Promise<void> => {
  const { exitCode, stderr } = await owner.shell(`set -e\n${here(block(platform, 'sh'))}`);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
};

/** A machine of its own for each job, with nothing but what the platform gives. */
function job(variables: Readonly<Record<string, string>>): Place {
  const place = emptyPlace({
    COFFER_STORE: undefined,
    COFFER_ADDR: address,
    COFFER_CACERT: issuer.caFile,
    ...variables,
  });
  finished(() => removePlace(place));
  writeFileSync(place.file('release.tar.gz'), 'a release');
  return place;
}

/** What GitHub's runner gives a job of these claims. */
async function gitHubJob(claims: Claims): Promise<Place> {
  const token = await issuer.token({ ...githubClaims, aud: address, ...claims });
  await issuer.behave({ jobToken: { bearer: 'of-the-runner', tokens: { [address]: token } } });
  return job({
    GITHUB_ACTIONS: 'true',
    ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/job-token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-runner',
  });
}

const gitLabJob = async (claims: Claims): Promise<Place> =>
  job({
    GITLAB_CI: 'true',
    COFFER_ID_TOKEN: await issuer.token({ ...gitlabClaims, aud: address, ...claims }),
  });

async function pod(claims: Claims): Promise<Place> {
  const place = job({});
  writeFileSync(place.file('token'), await issuer.token({ ...kubernetesClaims, aud: [address], ...claims }));
  return place;
}

interface Job {
  readonly steps?: readonly { readonly run: string }[];
  readonly script?: readonly string[];
  readonly after_script?: readonly string[];
  readonly containers?: readonly { readonly command: readonly string[] }[];
}

/** The commands of the job on the page, one after another; the last ones run whatever became of the others. */
function commandsOf(platform: string): readonly string[] {
  const document = parse(here(block(platform, 'yaml'))) as Job & { readonly release?: Job };
  const { steps, script = [], after_script: after = [], containers = [] } = document.release ?? document;
  const inPod = containers.map(({ command }) => command.at(-1) ?? '');
  return [...(steps?.map(({ run }) => run) ?? [...script, ...after]), ...inPod];
}

async function run(platform: string, place: Place, more: readonly string[] = []): Promise<Result> {
  const commands = commandsOf(platform).filter((command) => command !== 'coffer logout');
  const script = commands.join('\n').replaceAll('/var/run/secrets/coffer', place.directory);
  return await place.shell(['set -e', script, ...more].join('\n'));
}

/** As anybody does who has the public key. */
const verify = async (place: Place): Promise<void> => {
  await owner.ok('transit keys public releases --format ssh --out releases.pub --force');
  const signature = readFileSync(place.file('release.tar.gz.sig'), 'utf8');
  writeFileSync(owner.file('release.tar.gz.sig'), signature);
  writeFileSync(owner.file('release.tar.gz'), 'a release');
  await owner.ok('verify release.tar.gz release.tar.gz.sig --public-key releases.pub');
};

describe.each([
  {
    platform: 'github',
    ofJob: gitHubJob,
    others: { 'another repository': { repository_id: '75' }, 'another branch': { ref: 'refs/heads/x' } },
  },
  {
    platform: 'gitlab',
    ofJob: gitLabJob,
    others: {
      'another project': { project_id: '21' },
      'a branch that anybody may push to': { ref_protected: 'false' },
    },
  },
  {
    platform: 'kubernetes',
    ofJob: pod,
    others: {
      'another service account': { sub: 'system:serviceaccount:ns:default' },
      'another audience': { aud: ['x'] },
    },
  },
])('the page on pipelines, for $platform', ({ platform, ofJob, others }) => {
  beforeAll(() => setUp(platform));

  it('has ten lines at most for the owner and for the job', () => {
    for (const language of ['sh', 'yaml']) {
      const lines = block(platform, language).trim().split('\n');
      expect(lines.length).toBeLessThanOrEqual(10);
    }
  });

  it('lets a job sign a release and nothing else, with no secret of its own', async () => {
    const place = await ofJob({});
    const { exitCode, stderr } = await run(platform, place);
    expect({ exitCode, stderr: stderr.replace(/^::add-mask::\S+\n/, '') }).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    await verify(place);
    expect(await place.refused('transit encrypt app x', 4)).toContain('permission denied');
    expect(await place.refused('transit keys list', 4)).toContain('permission denied');
    expect(await place.refused('token create', 4)).toContain('permission denied');
    await place.ok('logout');
    expect((await place.run('transit keys read releases')).exitCode).toBe(4);
  });

  it('refuses the jobs of others', async () => {
    for (const claims of Object.values(others)) {
      const place = await ofJob(claims);
      const { exitCode, stdout, stderr } = await run(platform, place);
      expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
      expect(stderr).toMatch(
        /error validating token|claim "\w+" of the token|the token is for another audience/,
      );
    }
  });
});

describe('coffer login jwt in GitHub Actions', () => {
  it('says what the job lacks, and how it went wrong', async () => {
    expect(
      await job({ GITHUB_ACTIONS: 'true' }).refused('login jwt role=release --path github', 2),
    ).toContain('add "permissions: { id-token: write }" to the job');
    const place = await gitHubJob({});
    const line = 'login jwt role=release --path github';
    expect(await place.with({ ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'x' }).refused(line, 1)).toContain(
      'cannot get a token for the CI job: GitHub returned status 401',
    );
    expect(
      await place.with({ ACTIONS_ID_TOKEN_REQUEST_URL: 'http://192.0.2.1/x' }).refused(line, 4),
    ).toContain('the connection to http://192.0.2.1 is not encrypted');
    expect(await place.refused(`${line} --audience https://github.com/acme`, 1)).toContain('status 400');
  });

  it('asks for a token that is for this server alone, unless told for whom', async () => {
    const token = await issuer.token({ ...githubClaims, aud: address });
    await issuer.behave({ jobToken: { bearer: 'b', tokens: { 'https://github.com/acme': token } } });
    const place = job({
      ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/job-token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'b',
    });
    await place.ok('login jwt role=release --path github --audience https://github.com/acme');
    expect(await place.json('token lookup')).toMatchObject({
      display_name: 'github-acme/app',
      meta: { role: 'release' },
    });
  });
});
