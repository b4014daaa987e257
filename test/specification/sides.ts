import { ok as isTrue, strictEqual } from 'node:assert/strict';
import type { Place } from '../e2e/harness.ts';
import { type Reply, send, type TestServer } from '../servers/serving.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import type { Params } from './row.ts';

/** What an operation came to: what it answered, or in which words it was refused. */
export type Outcome = { readonly data: unknown } | { readonly refusal: string };

/** One of the two ways in which the specifications can be asked: over HTTP, and by the command. */
export interface Side {
  readonly way: 'HTTP' | 'command';
  run(operation: OperationName, params: Params): Promise<Outcome>;
}

/** `url:bytes` is the parameter `bytes` where it may be in the path or in the body, and is in the path. */
const bare = (name: string): string => name.replace(/^url:/, '');

/** The path with its parameters, and the parameters that are left for the body. */
function pathOf(route: string, params: Params): { readonly path: string; readonly rest: Params } {
  const rest = { ...params };
  const path = route.replace(
    /\(\/:([a-z_]+)\)|:([a-z_]+)/g,
    (_whole, optional: string | undefined, required: string | undefined) => {
      const name = required ?? `url:${optional}`;
      const value = rest[name];
      if (value === undefined) return '';
      delete rest[name];
      return `${required === undefined ? '/' : ''}${encodeURIComponent(String(value))}`;
    },
  );
  return { path, rest };
}

/** Requests written from the specifications' own table of paths, not from ours. */
export class HttpSide implements Side {
  readonly way = 'HTTP';
  readonly server: TestServer;

  constructor(server: TestServer) {
    this.server = server;
  }

  async run(operation: OperationName, params: Params): Promise<Outcome> {
    const { json, status, text } = await this.reply(operation, params);
    if (status >= 200 && status < 300) return { data: operation.startsWith('tags ') ? json : dataOf(json) };
    // Batches of encrypt and decrypt with failed items have all results in their answer, whose status is 400.
    const data = dataOf(json);
    if (params['batch_input'] !== undefined && data !== undefined && data !== null) return { data };
    isTrue(status >= 400 && status < 500, `status ${status}: ${text}`);
    return { refusal: text };
  }

  reply(operation: OperationName, params: Params): Promise<Reply> {
    const { http, document } = OPERATIONS[operation];
    const [method = '', route = ''] = http.split(' ');
    const { path, rest } = pathOf(route, params);
    const { address, token } = this.server;
    if (operation.startsWith('tags ')) {
      const query = method === 'GET' ? `?${new URLSearchParams(rest as Record<string, string>)}` : '';
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' };
      const body = method === 'GET' ? undefined : { data: document?.(rest) };
      return send(address, method, `/api/v2/${path}${query}`, { headers, body });
    }
    const body = Object.keys(rest).length === 0 ? undefined : rest;
    return send(address, method, `/v1/transit/${path}`, { token, body });
  }
}

const dataOf = (json: unknown): unknown => (json as { data?: unknown } | undefined)?.data;

/** Command lines written from the specifications' words: parameters are flags of the same names. */
export class CommandSide implements Side {
  readonly way = 'command';
  readonly place: Place;

  constructor(place: Place) {
    this.place = place;
  }

  async run(operation: OperationName, params: Params): Promise<Outcome> {
    const { command, value, flags } = OPERATIONS[operation];
    const { batch_input: batch, ...given } = params;
    const single = new Map(Object.entries(given).map(([name, one]) => [bare(name), one]));
    const words: string[] = [];
    for (const word of command.split(' ')) {
      const name = word.slice(1);
      if (!word.startsWith(':')) words.push(word);
      else if (single.has(name)) words.push(...[single.get(name)].flat().map(String));
      single.delete(name);
    }
    const typed = value === undefined ? undefined : single.get(value.param);
    if (value !== undefined) single.delete(value.param);
    for (const [name, one] of single) {
      for (const item of [one].flat()) words.push(...flagOf(flags?.[name] ?? name, item));
    }
    words.push('-o', 'json', '--yes');
    if (batch !== undefined) words.push('--batch', '-');
    else if (value?.isBase64 || operation === 'decrypt') words.push('--base64');
    const input = batch === undefined ? String(typed ?? '') : JSON.stringify(batch);
    const { exitCode, stdout, stderr } = await this.place.run(words, { input });
    const lines = stdout.split('\n').filter((line) => line !== '');
    if (batch !== undefined && lines.length > 0) {
      return { data: { batch_results: lines.map((line) => JSON.parse(line) as unknown) } };
    }
    // 5: the answer is that it is not valid.
    if (exitCode === 0 || (exitCode === 5 && lines.length > 0)) {
      return { data: lines.length === 0 ? undefined : (JSON.parse(stdout) as unknown) };
    }
    strictEqual(stdout, '');
    isTrue([1, 2, 3, 4, 6].includes(exitCode ?? -1), `exit code ${exitCode}: ${stderr}`);
    return { refusal: stderr };
  }
}

/** A flag of the parameter's name: `--min-decryption-version 2`, `--derived`, `--no-deletion-allowed`. */
function flagOf(name: string, given: unknown): string[] {
  const flag = `--${name.replaceAll('_', '-')}`;
  if (given === true) return [flag];
  if (given === false) return name === 'deletion_allowed' ? [`--no-${flag.slice(2)}`] : [];
  return [`${flag}=${String(given)}`];
}
