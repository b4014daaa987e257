import { createPublicKey, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionBindings, signedDataOf } from '../../../src/doors/agent/ssh/bindings.ts';
import { failure, identitiesAnswer, parseAgentRequest } from '../../../src/doors/agent/ssh/messages.ts';
import { openSshDoor } from '../../../src/doors/agent/ssh/ssh-door.ts';
import { ByteQueue } from '../../../src/ground/byte-queue.ts';
import { MOST_MESSAGE_BYTES, takeMessage } from '../../../src/signatures/ssh-agent-messages.ts';
import { sshBlob } from '../../../src/signatures/ssh-key.ts';
import { mpint, string, uint32 } from '../../../src/signatures/ssh-wire.ts';
import { processorMs } from '../../processor-time.ts';
import { Connected } from './connected.ts';
import { deskDouble, doubleKeys, publicText } from './desk.double.ts';
import { certificateOf } from './ssh-certificate.ts';

const bytes = (maxLength = 300) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
const framed = (type: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat([Buffer.from([type]), ...parts]);
  return Buffer.concat([uint32(body.length), body]);
};

describe('messages of the agent protocol', () => {
  it('come out whole, however they come in', () => {
    fc.assert(
      fc.property(
        fc.array(bytes().filter(({ length }) => length > 0)),
        fc.integer({ min: 1, max: 50 }),
        (sent, step) => {
          const stream = Buffer.concat(
            sent.map((message) => Buffer.concat([uint32(message.length), message])),
          );
          const come = new ByteQueue();
          const found: Buffer[] = [];
          for (let at = 0; at < stream.length; at += step) {
            come.add(stream.subarray(at, at + step));
            for (let next = takeMessage(come); next; next = takeMessage(come)) found.push(next);
          }
          expect(found).toEqual(sent);
          expect(come.length).toBe(0);
        },
      ),
    );
  });

  it('are read as they were written', () => {
    fc.assert(
      fc.property(bytes(), bytes(), fc.constantFrom(0, 2, 4, 6), (blob, data, flags) => {
        const rsaHash = flags === 0 ? undefined : flags === 4 ? 'sha512' : 'sha256';
        const message = Buffer.concat([Buffer.from([13]), string(blob), string(data), uint32(flags)]);
        expect(parseAgentRequest(message)).toEqual({ kind: 'sign', blob, data, rsaHash });
        expect(() => parseAgentRequest(message.subarray(0, -1))).toThrow('truncated');
        expect(() => parseAgentRequest(Buffer.concat([message, blob, uint32(0)]))).toThrow('unexpected data');
      }),
    );
  });

  it('have a length that can be', () => {
    for (const length of [0, MOST_MESSAGE_BYTES + 1, 0xffffffff]) {
      const come = new ByteQueue();
      come.add(uint32(length));
      expect(() => takeMessage(come)).toThrow('invalid message length');
    }
    const longest = new ByteQueue();
    longest.add(uint32(MOST_MESSAGE_BYTES));
    expect(takeMessage(longest)).toBeUndefined();
    longest.add(Buffer.alloc(MOST_MESSAGE_BYTES, 1));
    expect(takeMessage(longest)?.length).toBe(MOST_MESSAGE_BYTES);
  });

  it('list no more keys than they have room for', () => {
    const identity = { blob: Buffer.alloc(100_000), comment: 'large' };
    expect(identitiesAnswer([identity, identity, identity]).readUInt32BE(5)).toBe(2);
    const filling = (more: number) => ({
      blob: Buffer.alloc(MOST_MESSAGE_BYTES - 5 - 8 + more),
      comment: '',
    });
    expect(identitiesAnswer([filling(0)])).toHaveLength(4 + MOST_MESSAGE_BYTES);
    expect(identitiesAnswer([filling(1)]).readUInt32BE(5)).toBe(0);
  });
});

describe('what is to be signed', () => {
  it('is only what it looks like to the last byte', () => {
    const login = Buffer.concat([
      string('session'),
      Buffer.from([50]),
      ...['root', 'ssh-connection', 'publickey-hostbound-v00@openssh.com'].map(string),
      Buffer.from([1]),
      ...['ssh-ed25519', 'a key', 'a host'].map(string),
    ]);
    expect(signedDataOf(login)).toEqual({
      kind: 'login',
      user: 'root',
      sessionId: Buffer.from('session'),
      blob: Buffer.from('a key'),
      hostKey: Buffer.from('a host'),
    });
    const file = Buffer.concat([
      Buffer.from('SSHSIG'),
      ...['git', '', 'sha256'].map(string),
      string(Buffer.alloc(32)),
    ]);
    expect(signedDataOf(file)).toEqual({ kind: 'message', namespace: 'git' });
    for (const whole of [login, file]) {
      for (let end = 0; end < whole.length; end++) {
        expect(signedDataOf(whole.subarray(0, end)).kind).toBe('other');
      }
      expect(signedDataOf(Buffer.concat([whole, Buffer.alloc(1)])).kind).toBe('other');
    }
  });

  it('is a login only where each part of it is that of one', () => {
    const kindOf = (change: object) => {
      const usual = { type: 50, user: 'root', service: 'ssh-connection', method: 'publickey', signed: 1 };
      const { type, user, service, method, signed } = { ...usual, ...change };
      const parts = [
        string('session'),
        Buffer.from([type]),
        ...[user, service, method].map(string),
        Buffer.from([signed]),
        ...['ssh-ed25519', 'a key'].map(string),
      ];
      return signedDataOf(Buffer.concat(parts)).kind;
    };
    for (const change of [{}, { user: 'u'.repeat(1024) }, { user: '' }]) expect(kindOf(change)).toBe('login');
    for (const change of [
      { type: 49 },
      { type: 51 },
      { signed: 0 },
      { signed: 2 },
      { user: 'u'.repeat(1025) },
      { service: 'ssh-userauth' },
      { method: 'password' },
      // It would name the key of the host as well.
      { method: 'publickey-hostbound-v00@openssh.com' },
    ]) {
      expect([change, kindOf(change)]).toEqual([change, 'other']);
    }
  });

  it('is a message only with a namespace, with nothing that is reserved and with a digest of its hash', () => {
    const kindOf = (namespace: string, reserved: string, hash: string, bytes: number) =>
      signedDataOf(
        Buffer.concat([
          Buffer.from('SSHSIG'),
          ...[namespace, reserved, hash].map(string),
          string(Buffer.alloc(bytes)),
        ]),
      ).kind;
    expect([kindOf('n', '', 'sha256', 32), kindOf('n', '', 'sha512', 64)]).toEqual(['message', 'message']);
    for (const other of [
      kindOf('', '', 'sha256', 32),
      kindOf('n', 'r', 'sha256', 32),
      kindOf('n', '', 'sha256', 64),
      kindOf('n', '', 'sha512', 32),
      kindOf('n', '', 'sha1', 20),
      kindOf('n', '', 'sha256', 0),
    ]) {
      expect(other).toBe('other');
    }
  });

  it('has names of up to 1,024 bytes, as they are shown', () => {
    const file = (length: number) =>
      signedDataOf(
        Buffer.concat([
          Buffer.from('SSHSIG'),
          ...['n'.repeat(length), '', 'sha256'].map(string),
          string(Buffer.alloc(32)),
        ]),
      );
    expect(file(1024)).toEqual({ kind: 'message', namespace: 'n'.repeat(1024) });
    expect(file(1025)).toEqual({ kind: 'other' });
  });

  it('may be anything', () => {
    fc.assert(fc.property(bytes(), (data) => signedDataOf(data).kind === 'other'));
  });
});

describe('a session that was bound', () => {
  const [ed] = doubleKeys;
  if (ed === undefined) throw new Error('there is no key');
  const blob = sshBlob(createPublicKey(publicText(ed)));
  const bind = (session: string, forwarding: number, host = blob): Buffer =>
    framed(
      27,
      ...['session-bind@openssh.com', host, session].map((part) => string(part)),
      string(Buffer.concat([string('ssh-ed25519'), string(sign(null, Buffer.from(session), ed.key))])),
      Buffer.from([forwarding]),
    );
  const login = (session: string, named = blob): Buffer =>
    framed(
      13,
      string(blob),
      string(
        Buffer.concat([
          string(session),
          Buffer.from([50]),
          ...['root', 'ssh-connection', 'publickey'].map(string),
          Buffer.from([1]),
          string('ssh-ed25519'),
          string(named),
        ]),
      ),
      uint32(0),
    );
  const typesOf = (answers: Buffer): number[] => {
    const types: number[] = [];
    for (let at = 0; at < answers.length; at += 4 + answers.readUInt32BE(at))
      types.push(answers[at + 4] ?? -1);
    return types;
  };
  const answered = async (uses: readonly string[], ...messages: readonly Buffer[]): Promise<number[]> =>
    typesOf(await new Connected(openSshDoor(deskDouble(uses))).send(...messages));

  it.each([
    { title: 'logs in over it', uses: ['login'], sent: [bind('a', 0), login('a')], types: [6, 14] },
    { title: 'logs in over no other', uses: ['login'], sent: [bind('a', 0), login('b')], types: [6, 5] },
    { title: 'is the last one', uses: ['login'], sent: [bind('a', 0), bind('b', 0)], types: [6, 28] },
    {
      title: 'is refused when forwarded',
      uses: ['login'],
      sent: [bind('a', 1), bind('b', 0), login('b')],
      types: [6, 6, 5],
    },
    {
      title: 'is taken when forwarded where that was offered',
      uses: ['login', 'forward'],
      sent: [bind('a', 1), bind('b', 0), login('b'), login('a')],
      types: [6, 6, 14, 5],
    },
    {
      title: 'locks and unlocks nothing when forwarded',
      uses: ['login', 'forward'],
      sent: [bind('a', 1), framed(22, string('x')), framed(23, string('x')), bind('b', 0), login('b')],
      types: [6, 5, 5, 6, 14],
    },
    { title: 'may be none', uses: ['login'], sent: [login('a')], types: [14] },
  ])('of ssh $title', async ({ uses, sent, types }) => {
    expect(await answered(uses, ...sent)).toEqual(types);
  });

  it('logs in with a certificate of the key for a user, and with no other', async () => {
    const certificate = certificateOf(blob, 1);
    const others = doubleKeys.slice(1).map((key) => sshBlob(createPublicKey(publicText(key))));
    expect(await answered(['login'], login('a', certificate))).toEqual([14]);
    for (const wrong of [
      certificateOf(blob, 2),
      certificate.subarray(0, -1),
      Buffer.concat([certificate, Buffer.alloc(1)]),
      ...others.map((other) => certificateOf(other, 1)),
    ]) {
      expect(await answered(['login', 'sign', 'any'], login('a', wrong))).toEqual([5]);
    }
  });

  it('is that of a host with a certificate, also behind another one', async () => {
    const host = certificateOf(blob, 2);
    expect(await answered(['login'], bind('a', 0, host), login('a'), login('b'))).toEqual([6, 14, 5]);
    expect(await answered(['login', 'forward'], bind('a', 1), bind('b', 0, host), login('b'))).toEqual([
      6, 6, 14,
    ]);
    expect(await answered(['login'], bind('a', 0, certificateOf(blob, 1)))).toEqual([28]);
  });

  it.each([
    { title: 'none', uses: ['login', 'sign', 'any'], keys: 0 },
    { title: 'those that are offered for that', uses: ['login', 'forward'], keys: 3 },
  ])(
    'lists $title when it is forwarded, and nobody is asked to unlock the store for it',
    async ({ uses, keys }) => {
      const desk = deskDouble(uses);
      const answers = await new Connected(openSshDoor(desk)).send(bind('a', 1), framed(11), login('a'));
      const list = answers.subarray(answers.readUInt32BE(0) + 4);
      expect([list[4], list.readUInt32BE(5)]).toEqual([12, keys]);
      expect(new Set(desk.looks)).toEqual(new Set(['quietly']));
    },
  );

  /** A binding that is refused, by a host key with RSA of this modulus and exponent. */
  const slowBind = (modulusBytes: number, exponent: Buffer): Buffer => {
    const signature = Buffer.concat([string('rsa-sha2-512'), string(Buffer.alloc(modulusBytes, 1))]);
    const host = Buffer.concat([string('ssh-rsa'), mpint(exponent), mpint(Buffer.alloc(modulusBytes, 0xfb))]);
    return framed(
      27,
      ...['session-bind@openssh.com', host, 'a'].map((part) => string(part)),
      string(signature),
      Buffer.from([0]),
    );
  };

  it.each([
    { title: 'a long exponent', modulusBytes: 384, exponent: Buffer.alloc(380, 0xff) },
    { title: 'a long modulus', modulusBytes: 2048, exponent: Buffer.alloc(8, 0xff) },
  ])(
    'does not verify with a host key of RSA that takes long, by $title',
    async ({ modulusBytes, exponent }) => {
      const message = slowBind(modulusBytes, exponent);
      const quick = slowBind(256, Buffer.from([3]));
      const bindings = (bytes: Buffer): number => {
        const request = parseAgentRequest(bytes.subarray(4));
        if (request.kind !== 'bind') throw new Error('that is no binding');
        return processorMs(() => {
          for (let count = 0; count < 40; count++) new SessionBindings().add(request.binding);
        });
      };
      bindings(quick);
      // Verifying takes 18 to 38 ms each.
      expect(bindings(message)).toBeLessThan(bindings(quick) * 4 + 40);
    },
  );

  it('counts what was refused as well', async () => {
    const slow = slowBind(256, Buffer.from([3]));
    const lastAfter = async (count: number): Promise<number | undefined> =>
      (await answered(['login'], ...Array.from({ length: count }, () => slow), bind('a', 0))).at(-1);
    expect([await lastAfter(15), await lastAfter(16)]).toEqual([6, 28]);
  });

  it('leaves what is listed to others as it is when it is forwarded', async () => {
    const desk = deskDouble(['login']);
    const door = openSshDoor(desk);
    await new Connected(door).send(bind('a', 1), framed(11));
    expect(typesOf(await new Connected(door).send(login('a')))).toEqual([14]);
    const list = await new Connected(door).send(framed(11));
    expect(list.readUInt32BE(5)).toBe(3);
    expect(new Set(desk.looks)).toEqual(new Set(['quietly', undefined]));
  });

  it('asks where that was said, and takes a no', async () => {
    const ec = doubleKeys.find(({ name }) => name === 'ec');
    if (ec === undefined) throw new Error('there is no key');
    const other = sshBlob(createPublicKey(publicText(ec)));
    const file = Buffer.concat([
      Buffer.from('SSHSIG'),
      ...['git', '', 'sha512'].map(string),
      string(Buffer.alloc(64)),
    ]);
    const asked = framed(13, string(other), string(file), uint32(0));
    for (const answer of [true, false]) {
      const desk = deskDouble(['sign'], answer);
      const answers = await new Connected(openSshDoor(desk)).send(asked);
      expect(desk.asked).toEqual(['sign data with the namespace "git"']);
      expect(answers.equals(failure)).toBe(!answer);
    }
  });
});
