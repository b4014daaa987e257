/**
 * The alerts before Prometheus' own tool: `npm run test:monitoring`. Needs `promtool`, of Debian's package `prometheus`, or where
 * PROMTOOL leads; no part of `npm test`. The expressions of the dashboard go through it as well, as if they were rules.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const promtool = process.env['PROMTOOL'] ?? 'promtool';

/** Ends the program with the tool's own exit code when it finds something. */
function ask(...words: readonly string[]): void {
  const { error, status } = spawnSync(promtool, words, { cwd: root, stdio: 'inherit' });
  if (error !== undefined) {
    process.stderr.write(`${promtool} can't be run: install prometheus, or say with PROMTOOL where it is\n`);
    process.exit(2);
  }
  if (status !== 0) process.exit(status ?? 1);
}

/** With what Grafana puts in the place of its variables. */
function dashboardAsRules(): string {
  const { panels } = JSON.parse(
    readFileSync(join(root, 'docs/monitoring/coffer-dashboard.json'), 'utf8'),
  ) as {
    panels: { id: number; targets?: { refId: string; expr: string }[] }[];
  };
  const rules = panels.flatMap(({ id, targets = [] }) =>
    targets.map(({ refId, expr }) => ({
      record: `panel:${id}_${refId}`,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(?:job|instance|api)/g, '.*'),
    })),
  );
  return stringify({ groups: [{ name: 'dashboard', rules }] });
}

ask('check', 'rules', 'docs/monitoring/coffer.rules.yaml');
ask('test', 'rules', 'test/monitoring/coffer.rules.test.yaml');
const directory = mkdtempSync(join(tmpdir(), 'coffer-monitoring-'));
try {
  const file = join(directory, 'dashboard.rules.yaml');
  writeFileSync(file, dashboardAsRules());
  ask('check', 'rules', file);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
