import { connect } from 'node:net';
import { join } from 'node:path';
import { AGENT_DOORS } from '../../../src/doors/agent/registry.ts';
import { openAgentDoors } from '../../../src/doors/agent/run-agent.ts';
import { httpDoor } from '../../../src/doors/http/http-door.ts';
import { AGENT_CALLS, type AgentCalls, portOver } from '../../../src/service/agent/calls.ts';
import { Rpc, remote } from '../../../src/service/rpc.ts';
import { agentOf, describeAgentDoor } from '../../contracts/agent-door.ts';
import { type ContractDoor, type DoorClient, describeDoor } from '../../contracts/door.ts';
import type { DoorWorld } from '../../contracts/door-world.ts';
import { send } from '../../servers/serving.ts';
import { outcomeOf, prefixOf, TYPE_OF } from '../http/door-outcomes.ts';

/** Both sockets by which whoever comes in is the owner. */
async function ownersSockets(world: DoorWorld) {
  const agent = await agentOf(world);
  const place = (name: string) => join(world.location, '..', `${name}-${world.isOpen}.sock`);
  const [commands, api] = [place('agent'), place('api')];
  const places = { commands: { socket: commands }, api: { socket: api }, others: [] };
  const closeDoors = await openAgentDoors(agent, await httpDoor('owner'), places, {});
  const close = async (): Promise<void> => {
    await closeDoors();
    await agent.lock('the tests are over');
  };
  return { commands, api, close };
}

const overHttp = (api: ContractDoor['api']): ContractDoor => ({
  api,
  callers: 'owner',
  escapes: 'percent',
  async open(world): Promise<DoorClient> {
    const sockets = await ownersSockets(world);
    return {
      async ask({ method, path, body }) {
        const headers = { 'content-type': TYPE_OF[api] };
        const options = body === undefined ? {} : { body, headers };
        const { status, text } = await send(`unix:${sockets.api}`, method, prefixOf(api) + path, options);
        return { text, outcome: outcomeOf(status, text) };
      },
      close: sockets.close,
    };
  },
});

const overCalls = (api: ContractDoor['api']): ContractDoor => ({
  api,
  callers: 'owner',
  escapes: 'percent',
  async open(world): Promise<DoorClient> {
    const sockets = await ownersSockets(world);
    const socket = connect(sockets.commands);
    const rpc = new Rpc(portOver(socket), {});
    socket.once('close', () => rpc.close());
    const calls = remote<AgentCalls>(rpc, AGENT_CALLS);
    return {
      async ask({ method, path, body }) {
        const headers = { 'content-type': TYPE_OF[api] };
        const request = { method, target: prefixOf(api) + path, headers };
        const { status, body: text } = await calls.ask(body === undefined ? request : { ...request, body });
        return { text, outcome: outcomeOf(status, text) };
      },
      async close() {
        socket.destroy();
        await sockets.close();
      },
    };
  },
});

for (const [how, door] of [
  ['HTTP', overHttp],
  ['our own calls', overCalls],
] as const) {
  describeDoor(`/v1 of an agent over ${how}`, door('vault'));
  describeDoor(`/api/v2 of an agent over ${how}`, door('json-api'));
}

for (const kind of AGENT_DOORS) describeAgentDoor(kind);
