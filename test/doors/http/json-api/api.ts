import { type SendOptions, send, type TestServer } from '../../../servers/serving.ts';

export const MEDIA_TYPE = 'application/vnd.api+json';
export const NOT_FOUND = '{"errors":[{"status":"404","title":"not found"}]}';

export interface Options extends SendOptions {
  /** Instead of the owner's; null sends none. */
  readonly as?: string | null;
}

/** Sends as go-tfe does: bearer token, media type on everything but GET, even without a body. */
export const callerOf =
  (server: () => TestServer) =>
  (method: string, path: string, body?: unknown, { as = server().token, ...options }: Options = {}) =>
    send(server().address, method, `/api/v2/${path}`, {
      body,
      ...options,
      headers: {
        accept: MEDIA_TYPE,
        authorization: as === null ? undefined : `Bearer ${as}`,
        'content-type': method === 'GET' || method === 'HEAD' ? undefined : MEDIA_TYPE,
        ...options.headers,
      },
    });

export const named = (...names: string[]) => names.map((name) => ({ type: 'tags', attributes: { name } }));

export const bound = (pairs: Readonly<Record<string, string>>) =>
  Object.entries(pairs).map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } }));
