import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { goInstall } from '../clients/go.ts';
import { startIssuer } from '../servers/issuer.ts';
import { githubClaims } from '../servers/issuer-claims.ts';
import { startServerProcess } from '../servers/server-process.ts';
import {
  type Bench,
  type Checks,
  type Environment,
  released,
  releasedFile,
  root,
  serveFiles,
  version,
} from './bench.ts';

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run: string;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

const ARCHES: Readonly<Record<string, string>> = { x64: 'X64', arm64: 'ARM64' };
const INPUT = /\$\{\{ inputs\.([a-z]+) \}\}/;

/** A job on a runner: what the runner gives each step, and what it makes of what they wrote. */
interface Job {
  readonly action: Action;
  readonly directory: string;
  readonly environment: Environment;
  /** Runs the action with these inputs, as the runner does. @returns what is in the log */
  use(inputs: Readonly<Record<string, string>>, more?: Environment): Promise<string>;
  /** The names and values that the steps have written into one of the runner's files. */
  written(file: 'GITHUB_ENV' | 'GITHUB_OUTPUT'): Readonly<Record<string, string>>;
}

/** Unpacks the action, and lets it fetch from this machine. */
async function job(bench: Bench): Promise<Job> {
  const { secure, caFile } = await serveFiles(bench, released);
  const directory = join(bench.directory, 'action');
  mkdirSync(directory);
  await bench.run('tar', ['-xzf', releasedFile(`coffer-action-${version}.tar.gz`), '-C', directory]);
  const pinned = readFileSync(join(directory, 'pinned'), 'utf8');
  writeFileSync(join(directory, 'pinned'), pinned.replace(/^\S+ {2}address$/m, `${secure}  address`));
  const place = (name: string): string => join(bench.directory, name);
  for (const name of ['tools', 'temporary']) mkdirSync(place(name));
  const files = { GITHUB_ENV: place('env'), GITHUB_OUTPUT: place('output'), GITHUB_PATH: place('path') };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const environment: Environment = {
    ...files,
    HOME: bench.directory,
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTION_PATH: directory,
    RUNNER_OS: 'Linux',
    RUNNER_ARCH: ARCHES[process.arch],
    RUNNER_TEMP: place('temporary'),
    RUNNER_TOOL_CACHE: place('tools'),
    CURL_CA_BUNDLE: caFile,
  };
  const action = parse(readFileSync(join(directory, 'action.yml'), 'utf8')) as Action;
  const written: Job['written'] = (file) => parseFile(readFileSync(files[file], 'utf8'));
  const use: Job['use'] = async (inputs, more = {}) => {
    let log = '';
    const given = (text: string): string => {
      const name = INPUT.exec(text)?.[1] ?? '';
      return text.replace(INPUT, () => inputs[name] ?? action.inputs[name]?.default ?? '');
    };
    for (const step of action.runs.steps) {
      const wanted = [...(step.if ?? '').matchAll(/inputs\.([a-z]+) != ''/g)].map(([, name = '']) => name);
      if (wanted.length > 0 && wanted.every((name) => given(`\${{ inputs.${name} }}`) === '')) continue;
      const env = Object.entries(step.env ?? {}).map(([name, value]) => [name, given(value)]);
      const path = readFileSync(files.GITHUB_PATH, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .reverse();
      const script = `exec 2>&1\n${step.run}`;
      log += await bench.run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
        ...environment,
        ...written('GITHUB_ENV'),
        PATH: [...path, bench.environment['PATH']].join(':'),
        ...more,
        ...Object.fromEntries(env),
      });
    }
    return log;
  };
  return { action, directory, environment, use, written };
}

/** As the runner reads it. */
function parseFile(text: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const [whole = '', name = '', , value = ''] = /^([^\n=]+?)<<([^\n]+)\n(.*?)\n?^\2\n/ms.exec(rest) ?? [];
    if (whole === '') throw new Error(`the runner could not read: ${rest}`);
    values[name] = value;
    rest = rest.slice(whole.length);
  }
  return values;
}

const SECRETS = `PASSWORD=correct-horse
CERTIFICATE="first line
COFFER<<EOF
INJECTED=1
last line"
options=lower-case
OTHER=not-for-this-job
`;

export const checks: Checks = {
  'actionlint and the eye find no input in the text of a script': async (bench) => {
    const action = parse(readFileSync(join(root, 'action/action.yml'), 'utf8')) as Action;
    for (const { run } of action.runs.steps) equal(run.includes('${{'), false, run);
    // It reads workflows, and the actions that they use.
    const workflows = join(bench.directory, '.github/workflows');
    mkdirSync(workflows, { recursive: true });
    const step = '      - uses: ./action\n        with: { role: release, files: .env, output: X }\n';
    const head = 'on: push\njobs:\n  one:\n    runs-on: ubuntu-latest\n    steps:\n';
    writeFileSync(join(workflows, 'one.yml'), head + step);
    await bench.run('cp', ['-r', join(root, 'action'), bench.directory]);
    await bench.run('git', ['init', '-q']);
    const go = join(bench.directory, 'go');
    mkdirSync(go);
    const machine = {
      folder: (name: string): string => {
        mkdirSync(join(go, name), { recursive: true });
        return join(go, name);
      },
      run: (program: string, parameters: readonly string[], options?: { environment?: Environment }) =>
        bench.run(program, parameters, options?.environment),
      need: (program: string, parameters: readonly string[], options?: { environment?: Environment }) =>
        bench.run(program, parameters, options?.environment),
    };
    const linter = await goInstall(
      machine,
      'github.com/rhysd/actionlint/cmd/actionlint@v1.7.7',
      'actionlint',
    );
    await bench.run(linter, []);
  },
  'the action installs what is pinned, once, and nothing else': async (bench) => {
    const { use, environment, directory } = await job(bench);
    await use({});
    const tool = join(bench.directory, 'tools/coffer', version, environment['RUNNER_ARCH'] ?? '');
    equal(readFileSync(environment['GITHUB_PATH'] ?? '', 'utf8'), `${tool}\n`);
    equal(await bench.run(join(tool, 'coffer'), ['version']), `coffer ${version}\n`);
    // The second job of this runner needs no network.
    await use({}, { CURL_CA_BUNDLE: '/dev/null' });
    await bench.run('rm', ['-r', join(bench.directory, 'tools/coffer')]);
    await Promise.all([1, 2, 3].map(() => bench.run('bash', [join(directory, 'install.sh')], environment)));
    equal(await bench.run(join(tool, 'coffer'), ['version']), `coffer ${version}\n`);
    deepEqual(readdirSync(tool).sort(), ['LICENSE', 'README.md', 'THIRD-PARTY-LICENSES', 'coffer']);
    await bench.run('rm', ['-r', join(bench.directory, 'tools/coffer')]);
    const pinned = readFileSync(join(directory, 'pinned'), 'utf8');
    writeFileSync(join(directory, 'pinned'), pinned.replace(/^[0-9a-f]{64}/gm, '0'.repeat(64)));
    const step = [join(directory, 'install.sh')];
    match(await bench.refused('bash', step, environment), /is not what belongs to this action/);
    match(await bench.refused('bash', step, { ...environment, RUNNER_OS: 'Plan9' }), /no Coffer for Plan9/);
    equal(existsSync(`${tool}.complete`), false);
  },
  'the action logs in as the job, and hands over values that the log hides, line by line': async (bench) => {
    const { use, written } = await job(bench);
    const { address, token, issuer } = await server(bench);
    const coffer = join(root, 'bin/coffer');
    const owner = { COFFER_ADDR: address, COFFER_TOKEN: token };
    await bench.run(coffer, ['transit', 'keys', 'create', 'app'], owner);
    const file = join(bench.directory, 'secrets.env');
    writeFileSync(file, SECRETS);
    await bench.run(coffer, ['secrets', 'encrypt', file, '--key', 'app'], owner);
    ok(!readFileSync(file, 'utf8').includes('correct-horse'));
    const log = await use(
      {
        address,
        role: 'release',
        path: 'github',
        files: ` ${file}\n`,
        variables: 'PASSWORD\n  options\n',
        output: 'CERTIFICATE',
      },
      {
        ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/job-token?api-version=2.0`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-runner',
        COFFER_CACERT: issuer.caFile,
        // What a step before left behind is not what the file says.
        PASSWORD: 'of an earlier step',
      },
    );
    deepEqual(written('GITHUB_ENV'), {
      COFFER_ADDR: address,
      PASSWORD: 'correct-horse',
      options: 'lower-case',
    });
    deepEqual(written('GITHUB_OUTPUT'), { value: 'first line\nCOFFER<<EOF\nINJECTED=1\nlast line' });
    const lines = log.split('\n').filter((line) => line !== '');
    deepEqual(
      lines.filter((line) => !line.startsWith('::add-mask::')),
      [],
    );
    for (const secret of ['correct-horse', 'first line', 'last line', 'lower-case']) {
      ok(lines.includes(`::add-mask::${secret}`), secret);
    }
    ok(!log.includes('not-for-this-job'));
  },
  'the action opens values of a keyring with the identity of the pipeline, which later steps and the log do not get':
    async (bench) => {
      const { use, written } = await job(bench);
      const coffer = join(root, 'bin/coffer');
      const repository = join(bench.directory, 'repository');
      const home = join(bench.directory, 'alice');
      mkdirSync(join(home, '.ssh'), { recursive: true });
      await bench.run('git', ['init', '-q', repository]);
      await bench.run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, '.ssh/id_ed25519')]);
      const alice = { HOME: home, USER: 'alice' };
      const typed = (line: string): Promise<string> =>
        bench.run('sh', ['-ec', `cd ${repository} && ${line.replaceAll('coffer', coffer)}`], alice);
      await typed('coffer team init -q && printf "PASSWORD=correct-horse\\n" > app.env');
      await typed('coffer secrets encrypt -q app.env --key app');
      const identity = await typed('coffer team add -q ci --new');
      const file = join(repository, 'app.env');
      const log = await use({ identity, files: file, variables: 'PASSWORD' });
      deepEqual(written('GITHUB_ENV'), { PASSWORD: 'correct-horse' });
      equal(log, '::add-mask::correct-horse\n');
      await rejects(use({ files: file, variables: 'PASSWORD' }), /not trusted on this machine/);
    },
  'the action says that a role wants an address': async (bench) => {
    const { use } = await job(bench);
    await rejects(use({ role: 'release' }), /::error::There is a "role", and no "address"/);
  },
  'the action takes no name of a variable that would lead the runner elsewhere': async (bench) => {
    const { use } = await job(bench);
    for (const name of ['GITHUB_ENV', 'LD_PRELOAD', 'PATH', 'Path', 'github_path', 'IFS', 'A-B', 'X\nA;id']) {
      const failure = await use({ files: 'x.env', variables: name }).then(
        () => undefined,
        (error: Error) => error.message,
      );
      match(failure ?? '', /::error::That (?:is no name|variable is not)/, name);
    }
  },
};

/** A server that trusts an issuer as those who use GitHub set it up, and the token of one job. */
async function server(bench: Bench) {
  const issuer = await startIssuer({}, bench.finally);
  const coffer = join(root, 'bin/coffer');
  const store = {
    PATH: bench.environment['PATH'],
    COFFER_STORE: join(bench.directory, 'store'),
    COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  await bench.run(coffer, ['init', '--quiet'], store);
  const token = (await bench.run(coffer, ['token', 'create', '--policy', 'root'], store)).trim();
  const { address, stop } = await startServerProcess([coffer, 'serve', '--listen', '127.0.0.1:0'], {
    environment: store,
  });
  bench.finally(() => stop());
  const owner = { COFFER_ADDR: address, COFFER_TOKEN: token };
  const policy = join(bench.directory, 'release.hcl');
  writeFileSync(policy, 'path "transit/*" { capabilities = ["read", "update"] }\n');
  const configure = ['--oidc-discovery-url', issuer.url, '--oidc-discovery-ca-pem', `@${issuer.caFile}`];
  const role = [
    '--user-claim',
    'repository',
    '--bound-audiences',
    address,
    '--bound-claims',
    'repository_id=74',
  ];
  for (const line of [
    ['auth', 'enable', 'jwt', '--path', 'github'],
    ['auth', 'jwt', 'configure', '--path', 'github', ...configure],
    ['policy', 'write', 'release', policy],
    ['auth', 'jwt', 'write', 'release', '--path', 'github', ...role, '--token-policies', 'release'],
  ]) {
    await bench.run(coffer, line, owner);
  }
  const ofJob = await issuer.token({ ...githubClaims, aud: address });
  await issuer.behave({ jobToken: { bearer: 'of-the-runner', tokens: { [address]: ofJob } } });
  return { address, token, issuer };
}
