import { type CofferError, denied, invalid, ownWords } from '../../ground/errors.ts';
/** Wrapped responses: the operations below `sys/wrapping`. */

import { printGoTime } from '../../ground/clock.ts';
import { isObject } from '../../ground/objects.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { computing, type Outcome } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { printWrapped } from '../pipeline/wrapped-answer.ts';

const params = {
  token: text({ help: 'Wrapping token. Default: the current token.' }),
};

const notThere = (): CofferError =>
  invalid(ownWords('wrapping token is not valid or does not exist'), {
    field: 'token',
    hint: 'the token was used, has expired or is mistyped; if someone else may have used it, revoke what was wrapped',
  });

const missing = (why: string): CofferError =>
  denied(`error validating wrapping token: ${why}`, { field: 'token' });

/**
 * Returns the token of the request body.
 * @throws `denied` for an empty one
 */
function givenIn(token: string | undefined): string | undefined {
  if (token === '') throw missing('empty token in request body');
  return token;
}

/** Returns the unwrapped response, which the frontend that serialized it sends unchanged. */
function opened(verbatim: string): Outcome<unknown> {
  const { data, auth, warnings }: Readonly<Record<string, unknown>> = JSON.parse(verbatim);
  return {
    verbatim,
    data: data ?? undefined,
    auth: isObject(auth) ? auth : undefined,
    warnings: Array.isArray(warnings) ? warnings.map(String) : undefined,
  };
}

export const wrap = accessOperation({
  route: 'POST /sys/wrapping/wrap',
  ...computing,
  freeForm: true,
  async run({ wrapTtl, sent = {} }) {
    if (wrapTtl === undefined) {
      throw invalid(ownWords('endpoint requires response wrapping to be used'), {
        hint: 'send the request with curl and the header "X-Vault-Wrap-TTL: 5m"',
      });
    }
    return { data: sent };
  },
});

export const unwrap = accessOperation({
  route: 'POST /sys/wrapping/unwrap',
  withoutSecret: true,
  strangers: true,
  params,
  cli: {
    input: {
      param: 'token',
      as: 'text',
      what: 'the wrapping token',
      help: 'Wrapping token, which holds a response of a server and can be used only once.',
    },
    isOfVault: true,
    onceOnly: 'the wrapping token is used up: have the response made and wrapped again',
    examples: { 'coffer unwrap --in wrapping-token.txt': 'Unwrap a response; this works only once' },
  },
  async run({ access, caller }, values) {
    const token = givenIn(values.token);
    if (token === undefined && caller.wrapped !== undefined) return opened(caller.wrapped);
    if (token === undefined) throw caller.token === undefined ? missing('token is empty') : notThere();
    if (!caller.may('sys/wrapping/unwrap', 'update')) throw denied(ownWords('permission denied'));
    const answer = await access.wrapping.take({ text: token });
    if (answer === undefined) throw notThere();
    return opened(answer);
  },
});

/**
 * Shows the origin of a wrapped response to the holder of its token: an unexpected one reveals an attacker in between.
 */
export const lookup = accessOperation({
  route: ['POST /sys/wrapping/lookup', 'GET /sys/wrapping/lookup'],
  capability: 'read',
  withoutSecret: true,
  unauthenticated: true,
  computes: true,
  params,
  async run({ access, caller }, values) {
    const token = givenIn(values.token) ?? caller.token;
    if (token === undefined) throw missing('token is empty');
    const found = await access.wrapping.find(token);
    if (found === undefined) throw notThere();
    const { path, createdMs, creationTtl } = found.token;
    return {
      data: { creation_path: path, creation_time: printGoTime(createdMs), creation_ttl: creationTtl },
    };
  },
});

export const rewrap = accessOperation({
  route: 'POST /sys/wrapping/rewrap',
  withoutSecret: true,
  params,
  async run({ access }, values) {
    const token = givenIn(values.token);
    const wrapped = token === undefined ? undefined : await access.wrapping.rewrap(token);
    if (wrapped === undefined) throw notThere();
    return { wrapInfo: printWrapped(wrapped) };
  },
});
