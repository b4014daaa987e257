import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { selfSigned, temporaryDirectory } from '../servers/serving.ts';
import { binary } from './harness.ts';
import { server } from './server.ts';

/**
 * Follows docs/serving.md on a machine that has nothing of it yet, as far as a machine goes that is not to be changed: its
 * directories lie below one of the test, its user is ours, and what systemd would start is started by the unit's own lines.
 */

const page = readFileSync(fileURLToPath(new URL('../../docs/serving.md', import.meta.url)), 'utf8');
const blocks = [...page.matchAll(/<!-- followed -->\n```(\w*)\n([\s\S]*?)```/g)].map(([, kind, text]) => ({
  kind: kind ?? '',
  text: text ?? '',
}));
const unit = blocks.find(({ kind }) => kind === 'ini')?.text ?? '';
const rotation = blocks.find(({ kind }) => kind === '')?.text ?? '';
/** Where systemd puts the credentials of the service. */
const CREDENTIALS = '/run/credentials/coffer.service';
const has = (program: string): boolean => spawnSync('which', [program]).status === 0;

const moved = (text: string, root: string): string =>
  text
    .replace(/(?<![\w/])\/(?=(?:usr\/local|var|etc)\/)/g, `${root}/`)
    .replaceAll('0.0.0.0:8200', '127.0.0.1:0')
    .replaceAll('https://coffer.example.com:8200', 'https://127.0.0.1:$PORT');

/** The lines of the unit that say what is run, as a shell understands them, with credentials where systemd would put them. */
const started = (text: string, root: string): string =>
  [...text.matchAll(/^(Environment|EnvironmentFile|LoadCredential|ExecStart)=(.*)$/gm)]
    .map(([, name = '', value = '']) =>
      inShell(name, value.replaceAll(CREDENTIALS, `${root}/credentials`), root),
    )
    .join('\n');

function inShell(name: string, value: string, root: string): string {
  if (name === 'Environment') return `export ${value}`;
  if (name === 'EnvironmentFile') {
    return `while IFS= read -r line; do export "$line"; done < ${value.replace(/^-/, '')}`;
  }
  if (name === 'ExecStart') return `exec ${value}`;
  const [credential, file] = value.split(':');
  return `install -D -m 400 ${file} ${root}/credentials/${credential}`;
}

const MACHINE = `
useradd() { :; }
chgrp() { :; }
runuser() { shift 3; "$@"; }
install() {
  local words=()
  while (($#)); do case $1 in -o|-g) shift 2 ;; *) words+=("$1"); shift ;; esac; done
  command install "\${words[@]}"
}
# What is nobody else's may be read by a group only where it is root's.
if [ "$(id -u)" != 0 ]; then chmod() { command chmod 600 "\${@:2}"; }; fi
systemctl() {
  case $1 in
    enable)
      mkdir -m 700 "$ROOT/var/log/coffer"
      (umask 077; ulimit -c 0; exec env -i PATH="$PATH" bash "$ROOT/start" > "$ROOT/addresses" 2> "$ROOT/server.log") &
      until [ -s "$ROOT/addresses" ]; do kill -0 $! || { cat "$ROOT/server.log"; return 1; }; sleep 0.1; done
      PORT=$(sed 's/.*://' "$ROOT/addresses")
      ;;
  esac
}
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
`;

function follow(more: string): { readonly root: string; readonly output: string } {
  const root = temporaryDirectory();
  for (const name of ['dist', 'usr/local/bin', 'var/lib', 'var/log', 'etc/default']) {
    mkdirSync(join(root, name), { recursive: true });
  }
  writeFileSync(join(root, 'dist/coffer'), `#!/bin/sh\nexec "${process.execPath}" "${binary}" "$@"\n`);
  const { certificateFile, keyFile } = selfSigned(temporaryDirectory());
  writeFileSync(join(root, 'cert.pem'), readFileSync(certificateFile));
  writeFileSync(join(root, 'key.pem'), readFileSync(keyFile));
  writeFileSync(join(root, 'start'), started(moved(unit, root), root));
  const commands = blocks.filter(({ kind }) => kind === 'sh').map(({ text }) => moved(text, root));
  const script = ['set -euo pipefail', MACHINE, ...commands, more].join('\n');
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script], {
    cwd: root,
    env: {
      ROOT: root,
      HOME: root,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      COFFER_CACERT: join(root, 'cert.pem'),
      PATH: `${join(root, 'usr/local/bin')}:${process.env['PATH']}`,
    },
    encoding: 'utf8',
  });
  expect({ status, stderr: status === 0 ? '' : stderr + stdout }).toEqual({ status: 0, stderr: '' });
  return { root, output: stdout };
}

describe('the page on running a server', () => {
  it('is followed line by line on a fresh machine, up to a server that answers', () => {
    const { root, output } = follow('echo; echo last; cat "$ROOT/admin.token"');
    expect(output).toContain('initialized\ttrue');
    expect(output).toMatch(/last\n\S+\n$/);
    for (const name of ['var/lib/coffer', 'var/log/coffer', 'var/lib/coffer/store']) {
      expect(statSync(join(root, name)).mode & 0o077, name).toBe(0);
    }
    expect(statSync(join(root, 'etc/coffer/master.key')).mode & 0o007).toBe(0);
    expect(readFileSync(join(root, 'var/log/coffer/audit.log'), 'utf8')).toContain('transit/keys');
  });

  it('has a policy that lets a token tag one organization, and nothing else', async () => {
    const [, policy = ''] = /<<'POLICY'\n([\s\S]*?)POLICY\n/.exec(page) ?? [];
    const { place, stop } = await server.start();
    try {
      for (const name of ['acme', 'other']) {
        await place.ok(`orgs create ${name}`);
        await place.ok(`workspaces create web --org ${name}`);
      }
      await place.ok('policy write tagging -', { input: policy });
      const token = await place.ok('token create --policy tagging');
      const limited = place.with({ COFFER_TOKEN: token, COFFER_ORG: 'acme' });
      await limited.ok('tags create env:prod');
      await limited.ok('tags attach env:prod --workspace web');
      await limited.ok('workspaces tag web env:test');
      expect((await limited.ok('tags of web')).split('\n')).toEqual(['env:prod', 'env:test']);
      expect((await limited.ok('tags list')).split('\n')).toEqual(['env:prod', 'env:test']);
      await limited.ok('tags detach env:prod --workspace web');
      await limited.refused('tags delete env:prod --yes', 3);
      await limited.refused('workspaces delete web --yes', 3);
      await limited.refused('tags list --org other', 3);
      await limited.refused('transit keys list', 4);
    } finally {
      await stop();
    }
  });

  it.each([
    ['coffer.service', unit.replaceAll('/usr/local/bin/', '/usr/bin/')],
    ['coffer.logrotate', rotation],
  ])('has what the Debian package brings as %s', (name, text) => {
    const file = new URL(`../../scripts/release/debian/${name}`, import.meta.url);
    expect(text).toBe(readFileSync(file, 'utf8'));
  });

  it('has a unit that starts the server again for as long as its database is down, but not after a mistake', () => {
    const [general = '', service = ''] = unit.split('[Service]');
    expect(general).toMatch(/^StartLimitIntervalSec=0$/m);
    expect(service).toMatch(/^Restart=on-failure\nRestartSec=5\nRestartPreventExitStatus=2$/m);
  });

  it.skipIf(!has('systemd-analyze'))(
    'has a unit that systemd reads, and that keeps much from the service',
    () => {
      const root = temporaryDirectory();
      mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
      writeFileSync(join(root, 'usr/local/bin/coffer'), '#!/bin/sh\n', { mode: 0o755 });
      const file = join(root, 'coffer.service');
      writeFileSync(file, moved(unit, root));
      const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
      expect(verified.stderr).not.toContain('coffer.service');
      const judged = spawnSync('systemd-analyze', ['security', '--offline=yes', file], { encoding: 'utf8' });
      const [, level] = /Overall exposure level for coffer.service: ([\d.]+)/.exec(judged.stdout) ?? [];
      expect(Number(level)).toBeLessThanOrEqual(2);
    },
  );

  it.skipIf(!has('logrotate'))('has a rotation of the audit log that leaves no request out', () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'var/log/coffer'), { recursive: true, mode: 0o700 });
    writeFileSync(join(root, 'var/log/coffer/audit.log'), '{}\n', { mode: 0o600 });
    const own = moved(rotation, root)
      .replace(/^\s*su .*\n/m, '')
      .replace(/! systemctl.*/, 'true');
    writeFileSync(join(root, 'rotation'), own, { mode: 0o644 });
    const state = join(root, 'state');
    const { status, stderr } = spawnSync('logrotate', ['--force', '--state', state, join(root, 'rotation')], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(readFileSync(join(root, 'var/log/coffer/audit.log.1'), 'utf8')).toBe('{}\n');
  });
});
