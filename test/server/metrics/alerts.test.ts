import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { METRICS, PREFIX } from '../../../server/metrics/catalogue.js';
import { longTest } from '../../fixture/size.js';
import { judgedByPromtool } from './promtool.js';

const ROOT = join(import.meta.dirname, '../../../..');
const ALERTS = join(ROOT, 'server/deploy/alerts.yaml');
const CASES = join(ROOT, 'test/server/metrics/alert-cases.yaml');

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { h: number; w: number; x: number; y: number };
  fieldConfig?: { defaults: { unit: string } };
  targets?: { refId: string; expr: string; legendFormat: string }[];
}

/** What is wrong with the metrics that an expression names: those of no record, and labels that their records lack. */
function unknownNames(expression: string): string[] {
  return [...expression.matchAll(/\b(connection_service_\w+)(?:\{([^}]*)\})?/g)].flatMap(
    ([, full = '', labels = '']) => {
      const record = METRICS.find(({ name, type }) =>
        type === 'histogram' ? new RegExp(`^${name}_(bucket|sum|count)$`).test(full) : name === full,
      );
      if (!record) return [full];
      const known = [...record.labels, 'instance', 'job', 'le'];
      const used = [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
      return used.filter((label) => !known.includes(label)).map((label) => `${full}{${label}}`);
    },
  );
}

t.test('every metric says what a bad value means, in one line, by names that there are', async (t) => {
  for (const { name, meaning, bad } of METRICS) {
    t.match(bad, /^\S.*\.$/, name);
    t.notMatch(meaning + bad, /\n/, name);
    t.ok(name.startsWith(PREFIX));
    const named = [...bad.matchAll(/`([a-z]+_[a-z_]+)`/g)].map(([, one = '']) => one);
    const metrics = named.filter((one) =>
      /_(total|seconds|bytes|ready|queued|waiting|runs|running|operations)$/.test(one),
    );
    for (const one of metrics)
      t.ok(
        METRICS.some((other) => other.name === PREFIX + one),
        `${name} names ${one}`,
      );
  }
});

longTest(t, 'the alerts are well formed, and judge what there is', async (t) => {
  const { groups } = parse(readFileSync(ALERTS, 'utf8')) as { groups: { name: string; rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  t.ok(rules.length > 20);
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length, 'no name stands twice');
  for (const { alert, expr, for: wait = '0m', labels, annotations, ...more } of rules) {
    t.strictSame(more, {}, alert);
    t.match(alert, /^[A-Z][A-Za-z]+$/);
    t.match(wait, /^\d+[smh]$/, alert);
    t.match(labels, { severity: /^(critical|warning)$/ });
    t.match(annotations, { summary: /\S/, description: /\.$/ }, alert);
    t.match(expr, new RegExp(PREFIX), alert);
    t.strictSame(unknownNames(expr), [], alert);
    t.equal(expr.split('(').length, expr.split(')').length, alert);
  }
  await judgedByPromtool(t, ['check', 'rules', ALERTS]);
  const dir = t.testdir();
  copyFileSync(ALERTS, join(dir, 'alerts.yaml'));
  copyFileSync(CASES, join(dir, 'alert-cases.yaml'));
  await judgedByPromtool(t, ['test', 'rules', 'alert-cases.yaml'], { cwd: dir });
  const cases = parse(readFileSync(CASES, 'utf8')) as { tests: { alert_rule_test: { alertname: string }[] }[] };
  for (const { alertname } of cases.tests.flatMap((one) => one.alert_rule_test))
    t.ok(
      rules.some(({ alert }) => alert === alertname),
      alertname,
    );
});

t.test('the dashboard shows every metric of the catalogue, and no other', async (t) => {
  const text = readFileSync(join(ROOT, 'server/deploy/dashboard.json'), 'utf8');
  const { panels } = JSON.parse(text) as { panels: Panel[] };
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'no id stands twice');
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  t.strictSame(expressions.flatMap(unknownNames), []);
  const missing = METRICS.filter(
    ({ name }) => !expressions.some((expr) => new RegExp(`\\b${name}(_bucket|_count|_sum)?\\b`).test(expr)),
  );
  t.strictSame(
    missing.map(({ name }) => name),
    [],
  );
  for (const { type, title, gridPos, fieldConfig, targets = [] } of panels) {
    if (type === 'row') continue;
    t.match(type, /^(timeseries|stat)$/, title);
    t.ok(gridPos.x + gridPos.w <= 24, title);
    t.match(fieldConfig?.defaults.unit, /^(short|s|bytes|ops|reqps)$/, title);
    t.ok(targets.length > 0 && targets.every(({ legendFormat }) => legendFormat !== ''), title);
  }
  t.notMatch(text, /https?:\/\/|password|token/);
});
