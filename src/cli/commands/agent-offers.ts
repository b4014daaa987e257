import { AGENT_DOORS } from '../../doors/agent/registry.ts';
import { alternatives } from '../../ground/alternatives.ts';
import { invalid, notFound } from '../../ground/errors.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { checkKey } from '../agent/check-key.ts';
import { CONFIRM, chosenDoors, doorOptions, useOptions, usesFor, usesText } from '../agent/door-options.ts';
import { listedOffers } from '../agent/listed-offers.ts';
import type { OwnCommand } from '../command.ts';
import { isBrief, printResult } from '../files/output.ts';
import type { Given } from '../given.ts';

const keyArgument = {
  metavar: 'NAME',
  help: 'Name of the key, see "coffer transit keys list".',
  required: true,
  offers: 'key',
} as const;

export const offer: OwnCommand = {
  arguments: [keyArgument],
  options: [...doorOptions((kind) => `Offer it to ${kind.programs}. ${usesText(kind)}`), ...useOptions],
  details:
    'Other programs can use the key while the store is unlocked; the key itself never leaves the ' +
    'agent. No key is offered by default, and an offer lasts until "coffer agent withdraw". ' +
    'Running it again for the same key replaces what was allowed before.',
  examples: [
    ['coffer agent offer laptop --ssh', 'Use a key for ssh logins and signed git commits'],
    ['coffer agent offer laptop --ssh --use login --confirm', 'Allow only logins, and confirm each one'],
  ],
  async run(session, given) {
    const kinds = chosenDoors(given.options);
    if (kinds.length === 0) {
      throw invalid('no protocol given', {
        hint: `use ${alternatives(AGENT_DOORS.map(({ name }) => `--${name}`))}`,
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
    session.remark(
      `Offered ${key} to ${flags}. Run 'eval "$(coffer agent env)"' so that programs find the agent.`,
    );
  },
};

export const withdraw: OwnCommand = {
  arguments: [keyArgument],
  options: doorOptions(({ programs }) => `Withdraw it only from ${programs}.`),
  details:
    'Without --ssh, --pkcs11, --age or --sops, withdraws the key from all programs. Programs that are using the key lose it immediately.',
  examples: [['coffer agent withdraw laptop', 'Withdraw a key from all programs']],
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
      throw notFound(`${key} is not offered${chosen.length === 0 ? '' : ' through this protocol'}`, {
        field: 'key',
        hint: 'run "coffer agent list" to list the offered keys',
      });
    }
    for (const door of doors) await runner.run('doors withdraw', { door, key, mount });
    session.remark(`Withdrew ${key} from ${doors.join(' and ')}.`);
  },
};

export const list: OwnCommand = {
  details: 'Shows each offered key with its protocol and what programs may do with the key.',
  examples: [['coffer agent list', 'List offered keys and their allowed uses']],
  async run(session) {
    const offers = await listedOffers(await session.runner());
    if (offers.length === 0 && isBrief(session)) {
      const command = ['coffer agent offer NAME --ssh', ...session.placeOptions()].join(' ');
      session.say(`No keys are offered. Offer one: ${command}`);
      return;
    }
    await printResult(
      session,
      { offers },
      {
        lines: () => offers.map(({ door, mount, key }) => `${door}\t${mount}/${key}`),
        table: () => ({
          head: isBrief(session)
            ? ['Protocol', 'Mount', 'Key', 'Uses', 'Confirms']
            : ['Door', 'Mount', 'Key', 'Uses', 'Asks'],
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
  },
};

const keyOf = ({ arguments: [key = ''] }: Given): string => key;
