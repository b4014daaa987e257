import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  cleanUpAfterAll,
  issueToken,
  selfSigned,
  send,
  setPolicy,
  startServer,
  temporaryDirectory,
} from '../servers/serving.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook: string };
}

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly datasource: { readonly type: string; readonly uid: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: Target['datasource'];
  readonly targets?: readonly Target[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
  readonly datasource?: Target['datasource'];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const page = read('docs/monitoring.md');
const { groups } = parse(read('docs/monitoring/coffer.rules.yaml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('docs/monitoring/coffer-dashboard.json')) as Dashboard;
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);
const variables = dashboard.templating.list;
const queryOf = ({ query }: Variable): string => (typeof query === 'string' ? query : query.query);

const METRIC = /\b(?:coffer|process|nodejs)_[a-z0-9_]+/g;
/** What selects metrics by a pattern of their names. */
const PATTERN = /__name__=~"([^"]+)"/g;
/** Of Prometheus itself. */
const OTHERS = new Set(['up']);

/** Metrics that an expression names, in any place where their name could stand. */
function metricsIn(expression: string): readonly string[] {
  const bare = expression.replaceAll(/"[^"]*"/g, '""');
  return [...new Set(bare.match(METRIC) ?? [])];
}

const labelsIn = (expression: string): readonly string[] =>
  [...expression.matchAll(/([a-z_]+)(?:=|!=|=~|!~)"/g)].map(([, label = '']) => label);

const allMetrics = [
  ...rules.map(({ expr }) => expr),
  ...targets.map(({ expr }) => expr),
  ...variables.map(queryOf),
]
  .flatMap(metricsIn)
  .filter((name, index, all) => all.indexOf(name) === index)
  .sort();

describe('what goes with the metrics of a server', () => {
  const closeAfterwards = cleanUpAfterAll();
  let exposed: ReadonlySet<string>;
  let families: ReadonlySet<string>;

  beforeAll(async () => {
    const directory = temporaryDirectory(closeAfterwards);
    const tls = selfSigned(directory);
    const server = await startServer({ tls, auditFile: join(directory, 'audit.log') }, closeAfterwards);
    await setPolicy(server.directory, 'metrics', 'path "sys/metrics" { capabilities = ["read"] }');
    const token = await issueToken(server.directory, { policies: ['metrics'], ttl: '1h' });
    await send(server.address, 'GET', '/v1/sys/health', { ca: tls.pem });
    const { text } = await send(server.address, 'GET', '/v1/sys/metrics', { ca: tls.pem, token });
    exposed = new Set([...text.matchAll(/^([a-z_]+)[{ ]/gm)].map(([, name = '']) => name));
    families = new Set([...text.matchAll(/^# TYPE ([a-z_]+) /gm)].map(([, name = '']) => name));
  });

  it.each(allMetrics)('names a metric that a running server gives: %s', (name) => {
    expect([...exposed]).toContain(name);
  });

  it.each(rules.flatMap(({ expr }) => [...expr.matchAll(PATTERN)].map(([, pattern = '']) => pattern)))(
    'selects by a pattern that names of metrics fit: %s',
    (pattern) => {
      expect([...exposed].filter((name) => new RegExp(`^(?:${pattern})$`).test(name))).not.toEqual([]);
    },
  );

  it('leaves no metric of a server undescribed on its page, and describes no other', () => {
    const described = [...page.matchAll(/^\| (`[^|]+`) \|/gm)]
      .flatMap(([, cell = '']) => [...cell.matchAll(/`([a-z_]+)`/g)])
      .map(([, name = '']) => name);
    expect(described.sort()).toEqual([...families].sort());
  });
});

describe('the alerts', () => {
  it.each(rules)('have a name of their own, a severity and a way to the page: $alert', (rule) => {
    expect(rules.filter(({ alert }) => alert === rule.alert)).toHaveLength(1);
    expect(rule.labels.severity).toMatch(/^(?:critical|warning)$/);
    expect(rule.annotations).toEqual({
      summary: expect.stringContaining('{{ $labels.instance }}'),
      description: expect.stringMatching(/\.$/),
      runbook: expect.stringMatching(/^docs\/monitoring\.md#/),
    });
    const anchor = rule.annotations.runbook.split('#')[1] ?? '';
    const section = page.split(/^### /m).find((text) => anchorOf(text.split('\n', 1)[0] ?? '') === anchor);
    expect(section).toContain(`\`${rule.alert}\``);
  });

  it('name nothing but labels that their metrics have', () => {
    const known = ['job', 'status', 'kind', '__name__'];
    expect(rules.flatMap(({ expr }) => labelsIn(expr)).filter((label) => !known.includes(label))).toEqual([]);
  });

  it('name metrics of Coffer, or ones of Prometheus itself', () => {
    for (const { alert, expr } of rules) {
      const own = metricsIn(expr).length > 0 || PATTERN.test(expr);
      PATTERN.lastIndex = 0;
      expect([alert, own || [...OTHERS].some((name) => expr.startsWith(`${name}{`))]).toEqual([alert, true]);
    }
  });

  it('fire and keep still in the tests of the rules, each of them', () => {
    const { tests } = parse(read('test/monitoring/coffer.rules.test.yaml')) as {
      tests: {
        name: string;
        promql_expr_test: { exp_samples: { labels: string }[] }[];
      }[];
    };
    const seen = (fires: boolean): readonly string[] =>
      rules
        .map(({ alert }) => alert)
        .filter((alert) =>
          tests
            .filter(({ name }) => name.split(' ')[0] === alert)
            .flatMap((test) => test.promql_expr_test)
            .some(
              ({ exp_samples }) => exp_samples.some(({ labels }) => labels.includes(`"${alert}"`)) === fires,
            ),
        );
    const all = rules.map(({ alert }) => alert);
    expect(seen(true)).toEqual(all);
    expect(seen(false)).toEqual(all);
  });
});

describe('the dashboard', () => {
  it('has an id for each panel that no other has, and a title', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(dashboard.panels.filter(({ title }) => title === '')).toEqual([]);
  });

  it('asks the data source that is chosen, everywhere', () => {
    const [source] = variables.filter(({ type }) => type === 'datasource');
    expect(source).toMatchObject({ name: 'datasource', query: 'prometheus' });
    const asked = [...dashboard.panels.filter(({ type }) => type !== 'row'), ...targets];
    const others = [...asked, ...variables.filter(({ type }) => type === 'query')]
      .map(({ datasource }) => datasource)
      .filter(
        (datasource) => datasource?.type !== 'prometheus' || !/^\$\{datasource\}$/.test(datasource.uid),
      );
    expect(others).toEqual([]);
  });

  it('uses each of its variables, and no others', () => {
    const builtIn = ['__rate_interval', '__all'];
    const text = JSON.stringify([dashboard.panels, variables.map(queryOf)]);
    const used = new Set([...text.matchAll(/\$\{?([a-z_]+)\}?/g)].map(([, name = '']) => name));
    expect([...used].filter((name) => !builtIn.includes(name)).sort()).toEqual(
      variables.map(({ name }) => name).sort(),
    );
  });

  it('lays no panel over another, nor beyond the right edge', () => {
    for (const { id, gridPos: a } of dashboard.panels) {
      expect([id, a.x + a.w <= 24]).toEqual([id, true]);
      const over = dashboard.panels.filter(
        ({ id: other, gridPos: b }) =>
          other !== id && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h,
      );
      expect([id, over.map((panel) => panel.id)]).toEqual([id, []]);
    }
  });
});

/** As the pages' hosts make them of headings. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(' ', '-');
}
