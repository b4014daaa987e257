import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAgentDoors } from '../../../src/doors/agent/run-agent.ts';
import { httpDoor } from '../../../src/doors/http/http-door.ts';
import type { Agent } from '../../../src/service/agent/agent.ts';
import { AGENT_CALLS, type AgentCalls, portOver } from '../../../src/service/agent/calls.ts';
import { Rpc, remote } from '../../../src/service/rpc.ts';
import { agentOf } from '../../contracts/agent-door.ts';
import { type DoorWorld, doorWorld } from '../../contracts/door-world.ts';
import { refused } from '../../refusal.ts';

let world: DoorWorld;
let agent: Agent;
let places: Parameters<typeof openAgentDoors>[2];
beforeAll(async () => {
  world = await doorWorld();
  agent = await agentOf(world);
  const place = (name: string) => ({ socket: join(world.location, '..', `${name}.sock`) });
  places = { commands: place('agent'), api: place('api'), others: [] };
});
afterAll(async () => {
  await agent.lock('the tests are over');
  world.remove();
});

/** Opens the doors, and calls as a command does. */
async function called<T>(work: (calls: AgentCalls) => Promise<T>): Promise<T> {
  const close = await openAgentDoors(agent, await httpDoor('owner'), places, {});
  const socket = connect('socket' in places.commands ? String(places.commands.socket) : '');
  const rpc = new Rpc(portOver(socket), {});
  socket.once('close', () => rpc.close());
  try {
    return await work(remote<AgentCalls>(rpc, AGENT_CALLS));
  } finally {
    socket.destroy();
    await close();
  }
}

describe('a request by a call of our own', () => {
  const request = { method: 'GET', target: '/v1/sys/mounts', headers: {} };

  it('has the parts of a request, and is refused where one is missing or of another kind', async () => {
    await called(async (calls) => {
      expect(await calls.ask(request)).toMatchObject({ status: 200 });
      for (const odd of [
        undefined,
        'GET',
        [],
        { ...request, method: 1 },
        { ...request, method: undefined },
        { ...request, target: null },
        { ...request, headers: undefined },
        { ...request, headers: [] },
        { ...request, body: {} },
        { ...request, body: 1 },
      ]) {
        const { kind, message } = await refused(calls.ask(odd as never));
        expect([odd, kind, message]).toEqual([odd, 'invalid', 'malformed request']);
      }
      expect(await calls.ask(request)).toMatchObject({ status: 200 });
    });
    expect(world.defects()).toEqual([]);
  });

  it('may come after doors of which one could not be opened, since the others were closed then', async () => {
    const { commands } = places;
    places = { ...places, commands: { socket: join(world.location, 'nowhere', 'agent.sock') } };
    await expect(called(async () => undefined)).rejects.toThrow();
    places = { ...places, commands };
    expect(await called((calls) => calls.ask(request))).toMatchObject({ status: 200 });
  });
});
