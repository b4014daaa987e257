import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { lengthPrefixed } from '../../src/ground/bytes.ts';
import { denied } from '../../src/ground/errors.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { sshBlob } from '../../src/signatures/ssh-key.ts';
import { sshSignatureBytes, sshSignatureOf, sshSignedData } from '../../src/signatures/ssh-signature.ts';
import { sealOnce } from '../../src/store/single-use-seal.ts';
import { type Fact, parseFact, pathOf, printFact, printMessage } from '../../src/team/fact.ts';
import { type Judgement, judge } from '../../src/team/judge/judge.ts';
import { sshLineOf } from '../../src/team/recipients.ts';
import { checkOf, openMaterial, Roots, sealMaterial, sealOlder } from '../../src/team/roots.ts';
import { signatureCheck, signed } from '../../src/team/signing.ts';
import { sshIdentity } from '../../src/transit/envelope/age/ssh.ts';
import { sealer } from './sealer.ts';
import { sshKey, World } from './world.ts';

/** A keyring of one, with real keys. */
async function keyring() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const line = sshLineOf(publicKey);
  const root = systemRandom.bytes(32);
  const facts = new Map<string, Fact>();
  const add = (message: string): Fact => {
    const fact = parseFact(Buffer.from(printFact(message, signed(message, privateKey))), pathOf(message));
    facts.set(fact.id, fact);
    return fact;
  };
  const at = ['at', '2026-01-01T00:00:00Z'] as const;
  const first = add(
    printMessage(
      'store',
      [at, ['name', 'alice'], ['key', line], ['sign', line], ['check', checkOf(root)]],
      await sealer.armorFor([line], root),
    ),
  );
  const epoch = async (
    own: Buffer,
    older: ReadonlyMap<string, Uint8Array>,
    check = checkOf(own),
  ): Promise<Fact> =>
    add(
      printMessage(
        'removal',
        [
          ['store', first.id],
          ['after', first.id],
          ['epoch', first.id],
          ['by', `${first.id} alice`],
          at,
          ['for', `${first.id} alice`],
          ['check', check],
          ['older', sealOlder(own, first.id, older, systemRandom)],
        ],
        await sealer.armorFor([line], own),
      ),
    );
  const own = { recipient: line, identity: async () => sshIdentity(privateKey, sshBlob(publicKey)) };
  const roots = (as: (state: Judgement) => Judgement = (state) => state): Roots =>
    new Roots(as(judge(facts, first.id, signatureCheck())), [own]);
  return { first, root, facts, line, own, epoch, roots };
}

describe('the root keys of a keyring', () => {
  it('are found to be by somebody who could only sign where they hold none of the newest before', async () => {
    const { first, root, epoch, roots } = await keyring();
    const honest = await epoch(systemRandom.bytes(32), new Map([[first.id, root]]));
    const blind = await epoch(systemRandom.bytes(32), new Map());
    const guessed = await epoch(systemRandom.bytes(32), new Map([[first.id, systemRandom.bytes(32)]]));
    const all = roots();
    expect(await Promise.all([first, honest, blind, guessed].map(({ id }) => all.isSighted(id)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('are opened for everyone who asks for them at the same time, with one use of each key', async () => {
    const { first, root, facts, own, epoch } = await keyring();
    const later = await epoch(systemRandom.bytes(32), new Map([[first.id, root]]));
    const unknown = await epoch(systemRandom.bytes(32), new Map(), checkOf(root.subarray(1)));
    let used = 0;
    const identity = (): ReturnType<typeof own.identity> => {
      used++;
      return own.identity();
    };
    const roots = new Roots(judge(facts, first.id, signatureCheck()), [{ ...own, identity }]);
    const asked = [first.id, first.id, unknown.id, first.id, later.id, unknown.id, later.id];
    const opened = await Promise.all(asked.map((id) => roots.open(id)));
    expect(opened.map((found) => found !== undefined)).toEqual([true, true, false, true, true, false, true]);
    expect(opened.slice(0, 2)).toEqual([root, root]);
    expect(used).toBe(3);
  });

  it('are not taken where they are another than their epoch tells', async () => {
    const { first, root, epoch, roots } = await keyring();
    const wrong = await epoch(systemRandom.bytes(32), new Map([[first.id, root]]), checkOf(root));
    expect(await roots().open(wrong.id)).toBeUndefined();
    expect(await roots().open(first.id)).toEqual(root);
  });

  it('are asked for once with a key that prompts, and its failure counts where no other key opens them', async () => {
    const { first, root, facts, line, own } = await keyring();
    const state = judge(facts, first.id, signatureCheck());
    let asked = 0;
    const refusal = denied('wrong passphrase');
    const locked = {
      recipient: line,
      isLocked: () => true,
      identity: async () => {
        asked++;
        throw refusal;
      },
    };
    const failing = new Roots(state, [locked]);
    for (let count = 0; count < 2; count++) await expect(failing.open(first.id)).rejects.toBe(refusal);
    expect(asked).toBe(1);
    expect(await new Roots(state, [locked, own]).open(first.id)).toEqual(root);
    expect(asked).toBe(1);
    const mistake = new TypeError('a mistake');
    const broken = { ...locked, identity: () => Promise.reject(mistake) };
    const prompting = { ...own, isLocked: () => true };
    await expect(new Roots(state, [broken, prompting]).open(first.id)).rejects.toBe(mistake);
  });

  it('are looked for in what holds before what somebody has left behind who is out', async () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    const removal = world.remove(world.first, [bob], [world.first], { after: [bob] });
    const key = sshKey('carol');
    const carol = world.member(world.first, 'carol', { key, after: [removal] });
    const slots = Array.from({ length: 3 }, () => world.slot(bob, carol, world.first, [bob]));
    // In whatever order the files come.
    const facts = new Map([...slots, ...world.facts.values()].map((fact) => [fact.id, fact]));
    const state = judge(facts, world.first.id, () => true, [removal.id]);
    const [first] = state.grants.filter(({ to }) => to.includes(carol.id));
    expect(first?.fact.kind).toBe('slot');
    const tried: string[] = [];
    const looked = state.grants.map((grant) => {
      const fact = new Proxy(grant.fact, {
        get: (target, name) => {
          if (name === 'armor') tried.push(target.kind);
          return Reflect.get(target, name);
        },
      });
      return { ...grant, fact };
    });
    const identity = async () => ({ unwrap: async () => undefined });
    const roots = new Roots({ ...state, grants: looked }, [{ recipient: key, identity }]);
    expect(await roots.open(world.first.id)).toBeUndefined();
    expect(tried).toEqual(['member', 'slot', 'slot', 'slot']);
  });

  it('are passed on of all that counts, and of few of those that somebody has made who is out', async () => {
    const { first, root, facts, epoch, roots } = await keyring();
    const [own, other] = [systemRandom.bytes(32), systemRandom.bytes(32)];
    const valid = await epoch(own, new Map([[first.id, root]]));
    const one = await epoch(other, new Map());
    // Of one armor, as each takes a millisecond to make.
    const voids = Array.from(
      { length: 300 },
      (_, at): Fact => ({ ...one, id: `${one.id.slice(3)}${String(at).padStart(3, '0')}` }),
    );
    facts.delete(one.id);
    const passed = await roots((state) => ({
      ...state,
      good: new Map([...state.good, ...voids.map((fact) => [fact.id, fact] as const)]),
      everyEpoch: [...state.everyEpoch, ...voids],
      grants: [...state.grants, ...voids.map((fact) => ({ epoch: fact.id, to: [first.id], fact }))],
    })).openToPassOn();
    expect([...passed.keys()].slice(0, 2).sort()).toEqual([first.id, valid.id].sort());
    expect(passed.size).toBe(2 + 256);
  });

  it('are looked for once in each of the epochs that somebody has left behind who is out', async () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    world.remove(world.first, [bob], [world.first], { after: [bob] });
    for (let count = 0; count < 500; count++) world.remove(bob, [world.first], [bob], { after: [bob] });
    const state = judge(world.facts, world.first.id, () => true);
    let looked = 0;
    const counted = state.everyEpoch.map(
      (fact) =>
        new Proxy(fact, {
          get(target, name) {
            if (name === 'older') looked++;
            return Reflect.get(target, name);
          },
        }),
    );
    const roots = new Roots({ ...state, everyEpoch: counted }, []);
    for (const { id } of counted) expect(await roots.open(id)).toBeUndefined();
    expect(looked).toBeLessThan(3 * counted.length);
  });

  it('open the material of the version that it was sealed for, and of no other', () => {
    const root = systemRandom.bytes(32);
    const head = { key: 'app', number: 1, type: 'aes256-gcm96', under: 'e' };
    const material = sealMaterial(root, 'store', head, systemRandom);
    expect(openMaterial(root, 'store', { ...head, material })).toHaveLength(32);
    for (const other of [{ key: 'db' }, { number: 2 }, { under: 'f' }])
      expect(openMaterial(root, 'store', { ...head, ...other, material })).toBeUndefined();
    expect(openMaterial(root, 'other', { ...head, material })).toBeUndefined();
  });

  it('open no material of a type that this version does not know, and none that is too short to have a salt', () => {
    const root = systemRandom.bytes(32);
    const head = { key: 'app', number: 1, type: 'aes256-gcm96', under: 'e' };
    const other = { ...head, type: 'aes256-siv' };
    const material = sealMaterial(root, 'store', other, systemRandom);
    expect(openMaterial(root, 'store', { ...other, material })).toBeUndefined();
    for (const bytes of [0, 31, 32, 47, 48])
      expect(
        openMaterial(root, 'store', { ...head, material: Buffer.alloc(bytes).toString('base64') }),
      ).toBeUndefined();
  });

  it('stand in facts that no signature of the same key for another namespace signs, such as one of git', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const { first } = await keyring();
    const hash = createHash('sha512').update(first.message).digest();
    const signatureFor = (namespace: string): string =>
      sshSignatureBytes(
        sshSignatureOf(
          publicKey,
          namespace,
          'sha512',
          sign(null, sshSignedData(namespace, 'sha512', hash), privateKey),
        ),
      ).toString('base64');
    const isSigned = (namespace: string): boolean =>
      signatureCheck()({ ...first, signature: signatureFor(namespace) }, sshLineOf(publicKey));
    expect(['coffer-team', 'git', 'file', 'coffer-team ', 'COFFER-TEAM'].filter(isSigned)).toEqual([
      'coffer-team',
    ]);
  });

  it('stand in facts whose signatures have one way to be written, by one key', async () => {
    const { first, facts } = await keyring();
    const bytes = Buffer.from(first.signature, 'base64');
    const others = [
      `${first.signature}=`,
      Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64'),
      Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]).toString('base64'),
      bytes.toString('base64url'),
    ];
    const line = first.card?.sign ?? '';
    expect(signatureCheck()(first, line)).toBe(true);
    for (const signature of others) expect(signatureCheck()({ ...first, signature }, line)).toBe(false);
    expect(facts.size).toBe(1);
  });

  it('are taken from a list of older ones that an admin has filled with something else as far as it is one', async () => {
    const { first, root, facts, line, epoch, roots } = await keyring();
    const own = systemRandom.bytes(32);
    const honest = await epoch(own, new Map([[first.id, root]]));
    const olderOf = (text: string): string => {
      const salt = systemRandom.bytes(32);
      const associatedData = lengthPrefixed(first.id);
      const seal = { secret: own, salt, purpose: 'coffer/team/1/older', associatedData };
      return sealOnce(seal, Buffer.from(text), salt).toString('base64');
    };
    const hex = root.toString('hex');
    facts.delete(honest.id);
    expect(line).toMatch(/^ssh-ed25519 /);
    for (const [text, isSighted] of [
      [JSON.stringify({ [first.id]: hex, x: 'zz', y: 5 }), true],
      ['no JSON', false],
      ['[]', false],
      ['null', false],
      [JSON.stringify({ [first.id]: [hex] }), false],
      [JSON.stringify({ [first.id]: `${hex}00` }), false],
      [JSON.stringify({ [first.id]: hex.toUpperCase() }), false],
    ] as const) {
      facts.set(honest.id, { ...honest, older: olderOf(text) } as Fact);
      const all = roots();
      expect([text, await all.isSighted(honest.id)]).toEqual([text, isSighted]);
      expect(await all.open(first.id)).toEqual(root);
    }
  });
});
