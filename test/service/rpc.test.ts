import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { conflict, placed } from '../../src/ground/errors.ts';
import { turn } from '../../src/ground/pause.ts';
import { isCall, type Port, portOf, Rpc } from '../../src/service/rpc.ts';
import { refused } from '../refusal.ts';

/** A port whose other side says nothing. */
function silent(): { readonly port: Port; readonly sent: object[] } {
  const sent: object[] = [];
  return { sent, port: { send: (message) => void sent.push(message), onMessage: () => undefined } };
}

describe('a call to a process that is gone', () => {
  const gone = { kind: 'unavailable', message: 'the agent exited' };

  it('ends, whether it was made before or after that, and nothing is sent any more', async () => {
    const { port, sent } = silent();
    const rpc = new Rpc(port, {}, 'the agent exited');
    const before = refused(rpc.call('status'));
    rpc.close();
    expect(await before).toMatchObject(gone);
    expect(await refused(rpc.call('status'))).toMatchObject(gone);
    expect(sent).toEqual([{ call: 1, method: 'status', argument: null }]);
  });
});

/** A port on which the other side says what a test says. */
function spoken() {
  const sent: object[] = [];
  let listener: (message: unknown) => void = () => undefined;
  const port: Port = {
    send: (message) => void sent.push(message),
    onMessage: (to) => {
      listener = to;
    },
  };
  return { sent, port, say: (message: unknown) => listener(message) };
}

describe('a process that is called', () => {
  it('takes nothing for a call or an answer that is none', async () => {
    const { port, sent, say } = spoken();
    const rpc = new Rpc(port, { status: async () => 'well' });
    const call = rpc.call('status', 7);
    for (const other of [undefined, null, 'call', 7, {}, [], { error: 1 }, { answer: 2, value: 'of nobody' }])
      say(other);
    say({ answer: 1, value: 'well' });
    // A second answer is one to nothing.
    say({
      answer: 1,
      error: { kind: 'invalid', texts: { message: 'late', hint: undefined }, field: undefined },
    });
    expect(await call).toBe('well');
    expect(sent).toEqual([{ call: 1, method: 'status', argument: 7 }]);
    for (const none of [undefined, null, 'call', 7, {}, { answer: 1, value: 1 }])
      expect(isCall(none)).toBe(false);
    expect(isCall({ call: 1, method: 'status', argument: null })).toBe(true);
  });

  it('answers with what its functions return or refuse, and tells nothing of other errors', async () => {
    const { port, sent, say } = spoken();
    const place = { file: '/srv/store' };
    new Rpc(port, {
      nothing: async () => undefined,
      twice: async (argument) => [argument, argument],
      refuse: async () => {
        throw conflict(placed`${place} is full`, { field: 'store', hint: 'empty it' });
      },
      fail: async () => {
        throw new Error('the key is hunter2');
      },
    });
    const methods = ['nothing', 'twice', 'refuse', 'fail', 'unknown', 'toString', 'constructor'];
    for (const [index, method] of methods.entries()) say({ call: index, method, argument: 'a' });
    await turn();
    const error = { kind: 'unavailable', texts: { message: 'internal error' }, field: undefined };
    const answers = (sent as { answer: number }[]).sort((a, b) => a.answer - b.answer);
    const full = { message: expect.arrayContaining([place, ' is full']), hint: 'empty it' };
    expect(answers).toEqual([
      { answer: 0, value: null },
      { answer: 1, value: ['a', 'a'] },
      {
        answer: 2,
        error: { kind: 'conflict', texts: full, field: 'store' },
      },
      ...[3, 4, 5, 6].map((answer) => ({ answer, error })),
    ]);
    expect(JSON.stringify(sent)).not.toContain('hunter2');
  });

  it('answers nothing any more once it is closed', async () => {
    const { port, sent, say } = spoken();
    const held = Promise.withResolvers<string>();
    const rpc = new Rpc(port, { wait: () => held.promise });
    say({ call: 1, method: 'wait', argument: null });
    rpc.close();
    held.resolve('late');
    await turn();
    expect(sent).toEqual([]);
  });

  it('is sent nothing by one that is not connected to it', () => {
    const sent: object[] = [];
    const peer = Object.assign(new EventEmitter(), {
      connected: true,
      send: (message: object) => sent.push(message),
    });
    const port = portOf(peer);
    port.send({ a: 1 });
    peer.connected = false;
    port.send({ b: 1 });
    expect(sent).toEqual([{ a: 1 }]);
  });
});
