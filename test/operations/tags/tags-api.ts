import { openCore } from '../../../src/operations/core.ts';
import {
  type Caller,
  type Outcome,
  owner,
  type Runner,
} from '../../../src/operations/declaration/operation.ts';
import { readDocument } from '../../../src/operations/json-api/request.ts';
import { loadOperation, ownerRunner, run } from '../../../src/operations/runner.ts';
import { memoryStore } from '../../store/memory-store.ts';

export const BASE_URL = 'https://tags.example';

type Values = Readonly<Record<string, unknown>>;

/**
 * Runs operations of the tags API as a server does, without the server: path and query as texts, the body as parsed JSON.
 * `data` among the values is taken as from a command line.
 */
export class TagsApi {
  readonly #core: ReturnType<typeof openCore>;

  private constructor(core: ReturnType<typeof openCore>) {
    this.#core = core;
  }

  get runner(): Runner {
    return ownerRunner(this.#core);
  }

  static async open(options: Parameters<typeof openCore>[1] = {}): Promise<TagsApi> {
    return new TagsApi(openCore(await memoryStore(), options));
  }

  /** @param caller the owner unless the test is about somebody else. */
  async send(
    path: string,
    values: Values = {},
    body?: unknown,
    caller: Caller = owner,
  ): Promise<Outcome<unknown>> {
    const declaration = await loadOperation(path);
    const raw = {
      ...values,
      ...(body === undefined && 'data' in values ? {} : readDocument(declaration, body)),
    };
    return run({ core: this.#core, caller, mount: 'transit', baseUrl: BASE_URL }, declaration, raw);
  }

  /** The document that an operation answers. */
  async ask<D>(path: string, values: Values = {}, body?: unknown): Promise<D> {
    return (await this.send(path, values, body)).data as D;
  }

  /** A new organization and workspaces in it; answers the identifiers of these. */
  async organization(name: string, workspaces: readonly string[] = []): Promise<string[]> {
    const attributes = { name, email: `ops@${name}.example` };
    await this.send('orgs create', {}, { data: { type: 'organizations', attributes } });
    const ids: string[] = [];
    for (const workspace of workspaces) ids.push(await this.workspace(name, workspace));
    return ids;
  }

  async workspace(organization_name: string, name: string, tags: readonly string[] = []): Promise<string> {
    const relationships = { tags: { data: tags.map(named) } };
    const { data } = await this.ask<{ data: { id: string } }>(
      'workspaces create',
      { organization_name },
      { data: { type: 'workspaces', attributes: { name }, relationships } },
    );
    return data.id;
  }

  /** New tags; answers their identifiers. */
  async tags(organization_name: string, ...names: string[]): Promise<string[]> {
    const { data } = await this.ask<{ data: { id: string }[] }>(
      'tags create',
      { organization_name },
      { data: names.map(named) },
    );
    return data.map(({ id }) => id);
  }

  /** Name and count of every tag in the pool. */
  async counts(organization_name: string): Promise<Record<string, number>> {
    const { data } = await this.ask<{ data: TagData[] }>('tags list', {
      organization_name,
      'page[size]': 100,
    });
    return Object.fromEntries(data.map(({ attributes }) => [attributes.name, attributes['instance-count']]));
  }
}

export interface TagData {
  readonly id: string;
  readonly attributes: {
    readonly name: string;
    readonly 'created-at': string;
    readonly 'instance-count': number;
  };
}

export const named = (name: string) => ({ type: 'tags', attributes: { name } });
export const tag = (id: string) => ({ type: 'tags', id });
export const workspace = (id: string) => ({ type: 'workspaces', id });
