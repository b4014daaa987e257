import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentDesk } from '../../src/doors/agent/agent-desk.ts';
import type { AgentDoorKind } from '../../src/doors/agent/agent-door.ts';
import type { Desk } from '../../src/doors/agent/desk.ts';
import { asCofferError } from '../../src/ground/errors.ts';
import { openCore } from '../../src/operations/core.ts';
import { loadOperation } from '../../src/operations/runner.ts';
import { Agent } from '../../src/service/agent/agent.ts';
import { handOver } from '../../src/store/handed-over.ts';
import { type DoorWorld, doorWorld } from './door-world.ts';

const MINUTE = 60_000;

/** An agent of the store of a world; it has unlocked it where the world is open. */
export async function agentOf({ location, auditFile, log, isOpen, openStore }: DoorWorld): Promise<Agent> {
  const agent = await Agent.create({
    location,
    auditFile,
    log,
    describe: () => ({}),
    isReachable: () => true,
  });
  if (!isOpen) return agent;
  const store = await openStore();
  await agent.unlockWith({ handed: await handOver(store), idleMs: MINUTE, forMs: MINUTE });
  store.close();
  return agent;
}

/** What every door of an agent can't go past, since it has a desk and nothing else; each kind that is registered is tried. */
export function describeAgentDoor(kind: AgentDoorKind): void {
  const words = [...new Set([...kind.needs, ...Object.values(kind.uses).flatMap((use) => use.operations)])];
  const offered = { mount: 'transit', key: 'other', uses: Object.keys(kind.uses), confirm: false };
  let world: DoorWorld;
  let agent: Agent;
  let desk: Desk;

  const offer = async (offers: readonly (typeof offered)[]): Promise<void> => {
    const store = await world.openStore();
    const { doors } = await openCore(store).access();
    for (const { mount, key } of [...(await doors.offers(kind.name))]) {
      await doors.withdraw(kind.name, mount, key);
    }
    for (const one of offers) await doors.offer(kind.name, one);
    store.close();
  };
  const kindOfRefusal = async (run: Promise<unknown>): Promise<string | undefined> => {
    try {
      await run;
      return undefined;
    } catch (error) {
      return asCofferError(error)?.kind ?? 'defect';
    }
  };
  const run = (operation: string, raw: Readonly<Record<string, unknown>>, mount = 'transit') =>
    kindOfRefusal(desk.run(operation, raw, mount));

  describe(`${kind.name} as a door of an agent`, () => {
    beforeAll(async () => {
      world = await doorWorld();
      agent = await agentOf(world);
      desk = agentDesk(agent, kind, undefined, undefined);
    });

    afterAll(async () => {
      await agent.lock('the tests are over');
      world.remove();
    });

    it('reaches nothing before something is offered', async () => {
      await offer([]);
      expect(await desk.offers()).toEqual([]);
      for (const operation of words) expect(await run(operation, { name: 'other' })).toBe('denied');
    });

    it('reaches the key that is offered, by no other name and at no other mount', async () => {
      await offer([offered]);
      for (const operation of words) {
        world.newRecords();
        expect(await run(operation, { name: 'other' })).not.toBe('denied');
        expect(world.newRecords().map(({ auth }) => auth.display_name)).toContain(`door/${kind.name}`);
        for (const name of [
          'vital',
          'OTHER',
          'other/',
          'other/../vital',
          '%6fther',
          '',
          '/other',
          'other/x',
        ]) {
          const refusal = await run(operation, { name });
          expect([operation, name, ['denied', 'not-found'].includes(refusal ?? '')]).toEqual([
            operation,
            name,
            true,
          ]);
        }
        for (const mount of ['elsewhere', '', 'transit/keys', 'auth/userpass']) {
          const refusal = await run(operation, { name: 'other' }, mount);
          expect([mount, ['denied', 'not-found'].includes(refusal ?? '')]).toEqual([mount, true]);
        }
      }
    });

    it('does nothing that its uses do not name, and records that it tried', async () => {
      await offer([offered]);
      const others = ['transit keys delete', 'transit keys rotate', 'transit export', 'transit keys list'];
      for (const operation of others.filter((other) => !words.includes(other))) {
        if ((await kindOfRefusal(loadOperation(operation))) !== undefined) continue;
        world.newRecords();
        expect([operation, await run(operation, { name: 'other' })]).toEqual([operation, 'denied']);
        const statuses = world.newRecords().map(({ response }) => response?.status);
        expect(statuses).toEqual([403]);
      }
      const login = { name: 'bob', password: 'open sesame' };
      expect(await run('auth userpass login', login, 'auth/userpass')).toBe('denied');
    });

    it('is refused what an operation can not read, as a mistake of its own', async () => {
      await offer([offered]);
      for (const operation of words) {
        const refusal = await run(operation, {
          name: 'other',
          input: {},
          ciphertext: {},
          plaintext: {},
          context: {},
        });
        expect([operation, refusal]).toEqual([operation, 'invalid']);
      }
      expect(world.defects()).toEqual([]);
    });

    it('reaches a key no more once it is withdrawn, though it was used a moment ago', async () => {
      await offer([offered]);
      expect(await run(words[0] ?? '', { name: 'other' })).not.toBe('denied');
      await offer([]);
      expect(await run(words[0] ?? '', { name: 'other' })).toBe('denied');
    });

    it('says of everything that the store is locked, while it is', async () => {
      const locked = await agentOf(world.sealed());
      const deskOfLocked = agentDesk(locked, kind, undefined, undefined);
      expect(await kindOfRefusal(deskOfLocked.offers())).toBe('sealed');
      for (const operation of words) {
        expect(await kindOfRefusal(deskOfLocked.run(operation, { name: 'other' }, 'transit'))).toBe('sealed');
      }
      await locked.lock('the test is over');
    });
  });
}
