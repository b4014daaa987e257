/** What holds while the last release and this one are used on one store: docs/upgrading.md says it to users. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fleet, Release } from './fleet.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ROUNDS = 30;

type Checks = Readonly<Record<string, (fleet: Fleet) => Promise<void>>>;

/** On a store in files: this release ends what the earlier one can do there, with its first change. */
export const FILES_CHECKS: Checks = {
  'is read by both, while only the earlier one changes it': readTogether,
  'is refused by the earlier one, also by a running server, from the first change of this one on': takeOver,
  'has clients of the earlier one work against servers of this one': crossToToday,
  'goes back as a backup': goBack,
};

/** On a database both work at once. */
export const CHECKS: Checks = {
  'loses no rotation, ciphertext or tag that both write at once': writeTogether,
  'lets both commands write beside both servers': writeByCommands,
  'has clients of each work against servers of the other': crossClients,
  'keeps projects and KEY=VALUE tags through changes by the earlier one': keepBindings,
  'lets the earlier one leave alone what it does not know': leaveAlone,
  'lets tokens that depend on something new do nothing on the earlier one': guardTokens,
  'is whole for both, and goes back and forth as a backup': backUp,
};

const formatOf = ({ location }: Fleet): unknown =>
  JSON.parse(readFileSync(join(location, 'coffer.json'), 'utf8')).format;

async function readTogether(fleet: Fleet): Promise<void> {
  const { both, earlier, today } = fleet;
  for (let version = 1; version <= 5; version++) {
    await earlier.must('POST', `transit/keys/shared${version === 1 ? '' : '/rotate'}`, {});
    earlier.ok(`workspaces create before-${version}`);
    for (const release of both) {
      assert.equal((await release.must('GET', 'transit/keys/shared')).latest_version, version);
      assert.equal(JSON.parse(release.ok('transit keys read shared -o json')).latest_version, version);
      assert.equal(release.ok('workspaces list').split('\n').length, version);
    }
  }
  today.ok('doctor');
  assert.equal(formatOf(fleet), 1);
}

async function takeOver(fleet: Fleet): Promise<void> {
  const { earlier, today } = fleet;
  const { ciphertext } = await earlier.must('POST', 'transit/encrypt/shared', {
    plaintext: base64('before'),
  });
  await today.must('POST', 'transit/keys/shared/rotate', {});
  assert.equal(formatOf(fleet), 2);
  for (const line of ['transit keys list', 'transit keys create late', 'token list']) {
    const { status, stderr } = earlier.try(line);
    assert.notEqual(status, 0, line);
    assert.match(stderr, /^coffer: [^\n]*format[^\n]*\n$/, line);
  }
  for (const [method, path] of [
    ['GET', 'transit/keys/shared'],
    ['POST', 'transit/keys/shared/rotate'],
    ['POST', 'transit/keys/late'],
  ] as const) {
    const { status } = await earlier.ask(method, path, method === 'GET' ? undefined : {});
    assert.ok(status >= 500, `${method} ${path}: ${status}`);
  }
  assert.equal((await today.must('GET', 'transit/keys/shared')).latest_version, 6);
  const { plaintext } = await today.must('POST', 'transit/decrypt/shared', { ciphertext });
  assert.equal(plaintext, base64('before'));
  today.ok('workspaces create after');
  assert.equal(today.ok('workspaces list').split('\n').length, 6);
  today.ok('doctor');
}

function crossToToday({ earlier, today, home }: Fleet): Promise<void> {
  return useServer(earlier, today, { name: 'from-earlier', home });
}

async function goBack({ earlier, today, home }: Fleet): Promise<void> {
  const file = join(home, 'back.backup');
  today.ok(`store backup ${file}`);
  const elsewhere = { COFFER_STORE: join(home, 'store-back') };
  earlier.ok(`store restore ${file}`, elsewhere);
  earlier.ok('doctor', elsewhere);
  assert.equal(earlier.ok('transit keys list', elsewhere), today.ok('transit keys list'));
  assert.equal(earlier.ok('workspaces list', elsewhere), today.ok('workspaces list'));
  earlier.ok('transit keys rotate shared', elsewhere);
}

async function writeTogether({ both, earlier, today }: Fleet): Promise<void> {
  await earlier.must('POST', 'transit/keys/shared', {});
  const ciphertexts: { text: string; plaintext: string }[] = [];
  const work = async (release: Release, name: string): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) {
      await release.must('POST', 'transit/keys/shared/rotate', {});
      const plaintext = base64(`${name} ${round}`);
      const { ciphertext } = await release.must('POST', 'transit/encrypt/shared', { plaintext });
      ciphertexts.push({ text: ciphertext, plaintext });
      await release.must('POST', 'api/v2/organizations/acme/workspaces', {
        data: { type: 'workspaces', attributes: { name: `${name}-${round}` } },
      });
      await release.must('POST', `transit/keys/${name}-${round}`, {});
    }
  };
  await Promise.all([work(earlier, 'earlier'), work(today, 'today')]);
  for (const release of both) {
    assert.equal((await release.must('GET', 'transit/keys/shared')).latest_version, 1 + 2 * ROUNDS);
    assert.equal((await release.must('GET', 'transit/keys?list=true')).keys.length, 1 + 2 * ROUNDS);
    const names = (await release.must(
      'GET',
      'api/v2/organizations/acme/workspaces?page[size]=100',
    )) as object[];
    assert.equal(names.length, 2 * ROUNDS);
    const batch_input = ciphertexts.map(({ text }) => ({ ciphertext: text }));
    const { batch_results } = await release.must('POST', 'transit/decrypt/shared', { batch_input });
    assert.deepEqual(
      batch_results.map(({ plaintext }: { plaintext: string }) => plaintext),
      ciphertexts.map(({ plaintext }) => plaintext),
    );
  }
}

async function writeByCommands({ both, earlier, today }: Fleet): Promise<void> {
  earlier.ok('transit keys create commands');
  const rotating = [earlier, today, earlier, today, earlier, today];
  await Promise.all(rotating.map((release) => release.later('transit keys rotate commands')));
  for (const release of both) {
    assert.equal((await release.must('GET', 'transit/keys/commands')).latest_version, 7);
    assert.equal(JSON.parse(release.ok('transit keys read commands -o json')).latest_version, 7);
  }
}

async function crossClients({ earlier, today, home }: Fleet): Promise<void> {
  await useServer(earlier, today, { name: 'from-earlier', home });
  await useServer(today, earlier, { name: 'from-today', home });
  const { status, stderr } = today.try('projects list', today.at(earlier));
  assert.notEqual(status, 0);
  assert.match(stderr, /^coffer: [^\n]+\n$/);
}

async function useServer(
  client: Release,
  server: Release,
  { name, home }: { readonly name: string; readonly home: string },
): Promise<void> {
  const at = client.at(server);
  client.ok(`transit keys create ${name}`, at);
  const ciphertext = client.ok(`transit encrypt ${name}`, at, 'hello');
  assert.equal(client.ok(`transit decrypt ${name} ${ciphertext}`, at), 'hello');
  client.ok(`transit keys create ${name}-signer --type ed25519`, at);
  const signature = client.ok(`transit sign ${name}-signer`, at, 'release');
  client.ok(`transit verify ${name}-signer --signature ${signature}`, at, 'release');
  writeFileSync(join(home, name), 'a file');
  const envelope = join(home, `${name}.coffer`);
  client.ok(`transit envelope encrypt ${name} --in ${join(home, name)} --out ${envelope}`, at);
  assert.equal(server.ok(`transit envelope decrypt --in ${envelope}`), 'a file');
  client.ok(`workspaces create ${name} --tag env:prod`, at);
  assert.equal(client.ok(`tags of ${name}`, at), 'env:prod');
  assert.ok(client.ok('transit keys list', at).split('\n').includes(name));
  client.ok('token lookup', at);
  client.ok('policy list', at);
}

async function keepBindings({ earlier, today }: Fleet): Promise<void> {
  today.ok('projects create platform --bind zone=eu');
  today.ok('projects create doomed');
  today.ok('workspaces create bound --project platform');
  today.ok('workspaces bind bound env=dev');
  today.ok('workspaces create gone --project doomed');
  today.ok('tags reserved create zone --disable-overrides');
  earlier.ok('workspaces tag bound late');
  earlier.ok('workspaces update bound --description changed');
  earlier.ok('workspaces delete gone --yes');
  earlier.ok('tags delete late --yes');
  assert.deepEqual(today.ok('workspaces effective bound').split('\n').sort(), ['env=dev', 'zone=eu']);
  assert.equal(today.ok('workspaces list --project platform'), 'bound');
  assert.equal(today.ok('tags reserved list'), 'zone');
  today.ok('projects delete doomed --yes');
}

async function leaveAlone({ earlier, today }: Fleet): Promise<void> {
  today.ok('auth enable userpass');
  today.ok('transit keys create recipient --type x25519');
  const before = today.ok('transit keys read recipient -o json');
  for (const line of [
    'transit keys read recipient',
    'transit encrypt recipient --no-create hello',
    'transit keys rotate recipient --force',
    'transit keys config recipient --deletion-allowed',
  ]) {
    const { status, stderr } = earlier.try(line);
    assert.notEqual(status, 0, line);
    assert.match(stderr, /^coffer: [^\n]+\n$/, line);
  }
  assert.ok(earlier.ok('transit keys list').split('\n').includes('recipient'));
  earlier.ok('mounts add team');
  earlier.ok('mounts remove team --yes');
  assert.equal(today.ok('transit keys read recipient -o json'), before);
  assert.ok('userpass/' in ((await today.must('GET', 'sys/auth')) as object));
}

async function guardTokens({ earlier, today }: Fleet): Promise<void> {
  await today.must('POST', 'sys/policies/acl/users', {
    policy: 'path "transit/*" { capabilities = ["read", "update", "list"] }',
  });
  await today.must('POST', 'auth/userpass/users/ada', { password: 'correct horse', token_policies: 'users' });
  const { json } = await today.ask('POST', 'auth/userpass/login/ada', { password: 'correct horse' });
  const token: string = json.auth.client_token;
  const uses = async (release: Release) =>
    (await release.ask('GET', 'transit/keys/shared', undefined, token)).status;
  assert.equal(await uses(today), 200);
  assert.equal(await uses(earlier), 403);
  // It looks through all tokens, and may remove what it takes for dead.
  earlier.ok('token list');
  const { accessor } = json.auth;
  assert.equal((await earlier.ask('POST', 'auth/token/renew-accessor', { accessor })).status, 200);
  assert.equal(await uses(today), 200);
  assert.equal(await uses(earlier), 403);
}

async function backUp({ both, earlier, today, home }: Fleet): Promise<void> {
  for (const release of both) release.ok('doctor');
  for (const [from, to, name] of [
    [earlier, today, 'forward'],
    [today, earlier, 'back'],
  ] as const) {
    const file = join(home, `${name}.backup`);
    from.ok(`store backup ${file}`);
    const elsewhere = { COFFER_STORE: join(home, `store-${name}`) };
    to.ok(`store restore ${file}`, elsewhere);
    to.ok('doctor', elsewhere);
    assert.equal(to.ok('transit keys list', elsewhere), from.ok('transit keys list'));
  }
}
