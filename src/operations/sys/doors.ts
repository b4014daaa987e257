import { FORWARDED_USE, type Offer } from '../../access/doors.ts';
import { invalid } from '../../ground/errors.ts';
import { jsonOf } from '../../ground/objects.ts';
import { trimSlashes } from '../../ground/trim.ts';
import { DEFAULT_MOUNT, isMountPath } from '../../mounts/paths.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { done } from '../declaration/operation.ts';
import { declare, flag, type Spec, texts } from '../declaration/params.ts';
import { parseText } from '../declaration/weak-values.ts';
import { keyName } from '../transit/parameters.ts';

/** Syntax of names. Only the agent knows which protocols exist: an unknown name has no effect. */
const WORD = /^[a-z][a-z0-9-]{0,31}$/;

/** Name of an agent protocol, or of a use of its keys. */
const word = <const S extends Spec<string>>(spec: S) =>
  declare<string, S>(spec, { type: 'string', pattern: WORD.source }, (value, field) =>
    checkedWord(parseText(value, field), field),
  );

function checkedWord(given: string, field: string): string {
  if (WORD.test(given)) return given;
  throw invalid(`invalid ${field} ${JSON.stringify(given.slice(0, 64))}`, { field });
}

const door = word({ help: 'Protocol of the agent, e.g. ssh.', required: true });
const key = keyName({ help: 'Name of the key.', required: true });

/** Transit mount; must not contain policy wildcards. */
const mount = declare<string, { readonly help: string; readonly default: string }>(
  { help: 'Transit mount of the key.', default: DEFAULT_MOUNT },
  { type: 'string' },
  (value, field) => {
    const path = trimSlashes(parseText(value, field));
    if (isMountPath(path)) return path;
    throw invalid(`nothing can be mounted at ${JSON.stringify(path.slice(0, 64))}`, { field });
  },
);

/** Formats an offer in API terms. */
const offerData = ({ mount, key, uses, confirm }: Offer) => ({ mount, key, uses, confirm });

export const list = accessOperation({
  route: 'GET /sys/doors',
  withoutSecret: true,
  async run({ access }) {
    const doors = await access.doors.list();
    return {
      data: { doors: Object.fromEntries([...doors].map(([name, offers]) => [name, offers.map(offerData)])) },
    };
  },
});

export const offer = accessOperation({
  route: 'POST /sys/doors/:door/:key',
  // The word occurs in the JSON, whatever the form of the parameter.
  withoutSecret: ({ uses }) => !jsonOf(uses ?? []).includes(FORWARDED_USE),
  params: {
    door,
    key,
    mount,
    uses: texts({ help: 'Allowed uses of the key; the values depend on the protocol.', default: [] }),
    confirm: flag({ help: 'Require confirmation before each use.', default: false }),
  },
  run: done(async ({ access }, values) => {
    const uses = [...new Set(values.uses.map((use) => checkedWord(use, 'uses')))];
    const { confirm } = values;
    await access.doors.offer(values.door, { mount: values.mount, key: values.key, uses, confirm });
  }),
});

export const withdraw = accessOperation({
  route: 'DELETE /sys/doors/:door/:key',
  withoutSecret: true,
  params: { door, key, mount },
  run: done(({ access }, values) => access.doors.withdraw(values.door, values.mount, values.key)),
});
