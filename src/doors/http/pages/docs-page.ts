import type { Answer } from '../exchange.ts';
import type { ApiDocument, ApiOperation, ApiParameter } from '../openapi.ts';

/** Formats the OpenAPI document as a page without scripts and external resources. */
export function docsPage(document: object): Answer {
  const { info, paths } = document as ApiDocument & { readonly info: { title: string; description: string } };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = [...new Set(operations.flatMap(({ operation }) => operation.tags))].sort();
  const sections = groups.map((group) => {
    const members = operations.filter(({ operation }) => operation.tags.includes(group));
    return `<section id="${escapeHtml(group)}"><h2>${escapeHtml(group)}</h2>${members.map(printOperation).join('')}</section>`;
  });
  const links = groups.map((group) => `<a href="#${escapeHtml(group)}">${escapeHtml(group)}</a>`).join(' ');
  const body = [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(info.title)} API</title>`,
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head><body>`,
    `<h1>${escapeHtml(info.title)} API</h1><p>${escapeHtml(info.description)}</p>`,
    '<p>Machine-readable: <a href="/v1/sys/internal/specs/openapi">OpenAPI 3.1</a></p>',
    `<nav>${links}</nav>${sections.join('')}</body></html>`,
  ].join('\n');
  return { status: 200, contentType: 'text/html; charset=utf-8', headers: HEADERS, body };
}

const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'x-content-type-options': 'nosniff',
} as const;

const STYLE = [
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}',
  'nav a{margin-right:.8rem}details{border-bottom:1px solid #8884;padding:.3rem 0}summary{cursor:pointer}',
  'code{font:14px ui-monospace,monospace}.m{display:inline-block;width:4.5rem;font-weight:bold}',
  'table{border-collapse:collapse;margin:.5rem 0 .5rem 1rem}td{padding:.1rem .8rem .1rem 0;vertical-align:top}',
].join('');

function printOperation(shown: { path: string; method: string; operation: ApiOperation }): string {
  const { path, method, operation } = shown;
  const rows = [...(operation.parameters ?? []).map(parameterRow), ...bodyRows(operation.requestBody)];
  const table = rows.length === 0 ? '<p>No parameters.</p>' : `<table>${rows.join('')}</table>`;
  const isList = operation.parameters?.some(({ name }) => name === 'list') === true;
  const shownMethod = isList ? 'LIST' : method.toUpperCase();
  return (
    `<details><summary><code class="m">${shownMethod}</code><code>${escapeHtml(path)}</code> ` +
    `${escapeHtml(operation.summary)}</summary>${table}</details>`
  );
}

const parameterRow = ({ name, in: place, required, description, schema }: ApiParameter): string =>
  row(name, place, String(schema.type ?? ''), required, description);

interface ShownSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ShownSchema>>;
  readonly required?: readonly string[];
}

function bodyRows(requestBody: object | undefined): string[] {
  const { content } = (requestBody ?? {}) as { content?: Readonly<Record<string, { schema: ShownSchema }>> };
  const [media] = Object.values(content ?? {});
  return media === undefined ? [] : memberRows(media.schema, '');
}

function memberRows({ properties = {}, required = [] }: ShownSchema, prefix: string): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const isHolder = schema.type === 'object' && schema.properties !== undefined;
    if (isHolder) return memberRows(schema, `${prefix}${name}.`);
    const { type = '', description = '' } = schema;
    return [row(prefix + name, 'body', type, required.includes(name), description)];
  });
}

const row = (name: string, place: string, type: string, required: boolean, help: string): string =>
  `<tr><td><code>${escapeHtml(name)}</code></td><td>${place}</td><td>${escapeHtml(type)}</td>` +
  `<td>${required ? 'required' : ''}</td><td>${escapeHtml(help)}</td></tr>`;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
