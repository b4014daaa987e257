import type { TokenRecord } from '../../access/token.ts';
import { denied, ownWords } from '../../ground/errors.ts';
import { type TokenDetails, tokenDetails } from '../auth/token-answers.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { computing } from '../declaration/operation.ts';
import type { Details } from '../declaration/table.ts';
import { accessorParam, findByAccessor, findOwn, findToken, tokenId } from './token-target.ts';

export interface TokenList {
  /** Accessors, oldest token first. */
  readonly keys: readonly string[];
  /** Details of each token; not part of Vault's response. */
  readonly key_info: Readonly<Record<string, Omit<TokenDetails, 'id' | 'accessor'>>>;
}

function printList(records: readonly TokenRecord[], nowMs: number): TokenList {
  const infos = records.map((record) => {
    const { id: _, accessor, ...details } = tokenDetails(record, '', nowMs);
    return [accessor, details] as const;
  });
  return { keys: infos.map(([accessor]) => accessor), key_info: Object.fromEntries(infos) };
}

export const list = accessOperation({
  route: 'LIST /auth/token/accessors',
  capability: 'sudo',
  withoutSecret: true,
  cli: {
    empty: { what: 'tokens', create: 'coffer token create' },
    table: ({ keys, key_info }: TokenList) => ({
      whole: 0,
      head: ['Accessor', 'Name', 'Policies', 'Expires', 'Uses left'],
      rows: keys.map((accessor) => {
        const info = key_info[accessor];
        return [
          accessor,
          info?.display_name ?? '',
          info?.policies.join(', ') ?? '',
          info?.expire_time ? { time: info.expire_time } : 'never',
          info === undefined || info.num_uses === 0 ? 'any' : String(Math.max(0, info.num_uses)),
        ];
      }),
    }),
    result: { member: 'keys', as: 'lines' },
  },
  run: async ({ core, access }) => ({ data: printList(await access.tokens.list(), core.clock.now()) }),
});

/** A terminal does not show the token itself, nor a time twice. */
const details: Details = {
  labels: {
    creation_time: 'Created',
    creation_ttl: '',
    display_name: 'Name',
    expire_time: 'Expires',
    id: '',
    issue_time: '',
    last_renewal_time: '',
    meta: 'Metadata',
    num_uses: 'Uses left',
    path: 'Issued at',
    ttl: '',
  },
  unset: { orphan: false },
  whenUnset: { expire_time: 'never' },
};

export const lookup = accessOperation({
  route: 'POST /auth/token/lookup',
  ...computing,
  params: {
    token: tokenId(
      'Accessor of the token, which "coffer token list" shows as ID; or the token, which other users can then see in the list of processes. Default, with a server: your own token.',
    ),
  },
  cli: {
    examples: {
      'coffer token lookup 6f2a9c0e4b7d1f35a8c2e6094d7b13f5a0c8e291':
        'Show the token with this accessor, see "coffer token list"',
      'coffer token lookup --address http://127.0.0.1:8200 --token-file token.txt':
        'Show the token in token.txt, on a server',
    },
    withoutParam: { param: 'token', run: 'lookup-self' },
    self: 'lookup-self',
    isOfVault: true,
    details,
  },
  async run(call, values) {
    const id = values.token === undefined || values.token === '' ? call.caller.token : values.token;
    const target = await findToken(call, id, 'auth/token/lookup-accessor');
    if (target === undefined) throw denied(ownWords('bad token'), { field: 'token' });
    return { data: tokenDetails(target.record, target.id, call.core.clock.now()) };
  },
});

export const lookupSelf = accessOperation({
  route: ['GET /auth/token/lookup-self', 'POST /auth/token/lookup-self'],
  withoutSecret: true,
  cli: { details, isOfVault: true },
  async run(call) {
    const { record, id } = await findOwn(call);
    return { data: tokenDetails(record, id, call.core.clock.now()) };
  },
});

export const lookupAccessor = accessOperation({
  route: 'POST /auth/token/lookup-accessor',
  ...computing,
  params: { accessor: accessorParam },
  async run(call, values) {
    const { record, id } = await findByAccessor(call, values.accessor);
    return { data: tokenDetails(record, id, call.core.clock.now()) };
  },
});
