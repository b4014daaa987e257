import { AGENT_DOORS } from '../../doors/agent/registry.ts';
import { invalid, notFound } from '../../ground/errors.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { checkKey } from '../agent/check-key.ts';
import { CONFIRM, chosenDoors, doorOptions, useOptions, usesFor, usesText } from '../agent/door-options.ts';
import { listedOffers } from '../agent/listed-offers.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { printResult } from '../files/output.ts';
import type { Given } from '../given.ts';

const keyArgument = { metavar: 'NAME', help: 'The named key.', required: true, offers: 'key' } as const;

export const offer: Command = {
  arguments: [keyArgument],
  options: [...doorOptions, ...useOptions],
  details:
    'Programs that know nothing of Coffer use the key while the agent holds the store open, and the key never leaves it. Nothing is offered ' +
    `before you say so, and it stays offered until "agent withdraw". For a key that is offered already, this says anew for what. Uses of ${usesText}`,
  examples: [
    ['coffer agent offer laptop --ssh', 'ssh logs in with it, git signs commits with it'],
    ['coffer agent offer laptop --ssh --use login --confirm', 'Only to log in, and ask each time'],
  ],
  async run(session, given) {
    const kinds = chosenDoors(given.options);
    if (kinds.length === 0) {
      throw invalid('no door is named', {
        hint: `say ${AGENT_DOORS.map(({ name }) => `--${name}`).join(' or ')}`,
      });
    }
    const made = kinds.map((kind) => ({ door: kind.name, uses: usesFor(kind, given.options) }));
    const key = keyOf(given);
    const mount = session.settings.mount ?? DEFAULT_MOUNT;
    const confirm = given.options.has(CONFIRM);
    const runner = await session.runner();
    await checkKey(runner, kinds, key);
    for (const one of made) await runner.run('doors offer', { ...one, key, mount, confirm });
    const names = kinds.flatMap((kind) => kind.named?.({ mount, key }) ?? []);
    const shown = { key, mount, confirm, doors: made, ...Object.fromEntries(names) };
    if (session.settings.format !== undefined) await printResult(session, shown, {});
    else for (const [what, name] of names) session.streams.out.write(`${what}: ${name}\n`);
    const flags = kinds.map(({ name }) => name).join(' and ');
    session.remark(`Offered ${key} to ${flags}. Programs find the agent by what "coffer agent env" prints.`);
    return DONE;
  },
};

export const withdraw: Command = {
  arguments: [keyArgument],
  options: doorOptions,
  details:
    'Without a door, from all of them. Programs that are in the middle of something find the key gone.',
  examples: [['coffer agent withdraw laptop', 'No program uses it any more']],
  async run(session, given) {
    const key = keyOf(given);
    const mount = session.settings.mount ?? DEFAULT_MOUNT;
    const chosen = chosenDoors(given.options).map(({ name }) => name);
    const runner = await session.runner();
    const offered = (await listedOffers(runner))
      .filter((entry) => entry.key === key && entry.mount === mount)
      .map(({ door }) => door);
    const doors = chosen.length === 0 ? offered : chosen.filter((name) => offered.includes(name));
    if (doors.length === 0) {
      throw notFound(`${key} is not offered${chosen.length === 0 ? '' : ' there'}`, {
        field: 'key',
        hint: 'see "coffer agent list"',
      });
    }
    for (const door of doors) await runner.run('doors withdraw', { door, key, mount });
    session.remark(`Withdrew ${key} from ${doors.join(' and ')}.`);
    return DONE;
  },
};

export const list: Command = {
  arguments: [],
  options: [],
  details: 'What programs may use through which door of the agent, and for what.',
  examples: [['coffer agent list', 'What is offered, to whom']],
  async run(session) {
    const offers = await listedOffers(await session.runner());
    await printResult(
      session,
      { offers },
      {
        lines: () => offers.map(({ door, mount, key }) => `${door}\t${mount}/${key}`),
        table: () => ({
          head: ['Door', 'Mount', 'Key', 'Uses', 'Asks'],
          rows: offers.map(({ door, mount, key, uses, confirm }) => [
            door,
            mount,
            key,
            uses.join(' '),
            confirm ? 'yes' : 'no',
          ]),
        }),
      },
    );
    return DONE;
  },
};

const keyOf = ({ arguments: [key = ''] }: Given): string => key;
