import { describe, expect, it } from 'vitest';
import { type Port, Rpc } from '../../src/service/rpc.ts';
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
