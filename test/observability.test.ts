// The dashboard and the alerts of `deploy` ask for metrics and labels that a real server has.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { testAgent, testTool } from '../src/engine/testing/open-engine.ts'
import { openOtlpReceiver } from '../src/telemetry/testing/otlp-receiver.ts'
import { openTracedApp } from '../src/telemetry/testing/traced-app.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const Dashboard = z.object({
  panels: z.array(
    z.object({
      title: z.string(),
      type: z.string(),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
    }),
  ),
  templating: z.object({ list: z.array(z.object({ query: z.string() })) }),
})
const dashboard = Dashboard.parse(JSON.parse(read('deploy/grafana/quarterdeck.json')))
const panels = dashboard.panels.flatMap(({ title, targets }) => targets.map((target) => ({ title, ...target })))
const Alerts = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
})
const alerts = Alerts.parse(parse(read('deploy/prometheus/alerts.yaml'))).groups.flatMap(({ rules }) => rules)

/** What Prometheus adds to every series of a server. */
const OF_PROMETHEUS = ['instance', 'job']

/** The labels of each metric, as a server with some traffic shows them, or as the page says for those that had none to show. */
let known: ReadonlyMap<string, ReadonlySet<string>> = new Map()

beforeAll(async () => {
  known = labelsIn(await pageAfterTraffic())
}, 120_000)

async function pageAfterTraffic(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quarterdeck-observed-'))
  await using receiver = await openOtlpReceiver()
  const app = await openTracedApp({
    dataDir,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    answers: [
      { parts: [{ tool_call: { name: 'lookup', arguments: {} } }, { usage: { input: 1, output: 1 } }] },
      { parts: [{ text: 'Done.' }] },
    ],
    agent: { approval: { ...testAgent.approval, default: { ask: 'always' } } },
    tools: [testTool({ name: 'lookup', effect: 'once', call: async () => ({ content: 'x', isError: true }) })],
  })
  try {
    const { run_id: runId } = z
      .object({ run_id: z.string() })
      .parse(await app.send('/sessions/one/messages', { message: 'Hi' }))
    await app.ended(runId)
    const headers = { authorization: `Bearer ${app.tokens.operatorToken}` }
    const { approvals } = z
      .object({ approvals: z.array(z.object({ approval_id: z.string() })) })
      .parse(await (await fetch(`${app.url}/approvals`, { headers })).json())
    await app.send(`/approvals/${approvals[0]?.approval_id}`, { decision: 'approve' }, headers)
    const waited = await app.engine.runs.get('local_user', runId)
    await app.ended((await app.engine.runs.continuation(waited))?.id ?? '')
    await fetch(`${app.url}/nowhere`)
    return await (await fetch(`${app.url}/metrics`)).text()
  } finally {
    await app.close({ drainMs: 0 })
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Rows of the page: `| name | labels | meaning |`. */
const documented = new Map(
  [...read('docs/do/watch-a-server.md').matchAll(/^\| `(\w+)` \|([^|]*)\|/gm)].map(([, name = '', labels = '']) => [
    name,
    new Set([...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label)),
  ]),
)

function labelsIn(page: string): Map<string, Set<string>> {
  const names = [...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    (type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).map((suffix) => [name, `${name}${suffix}`] as const),
  )
  return new Map(
    names.map(([family, name]) => {
      const seen = [...page.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? `, 'gm'))]
      const shown = seen.flatMap(([, labels = '']) => [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label))
      const labels = new Set(seen.length === 0 ? documented.get(family) : shown)
      return [name, name.endsWith('_bucket') ? labels.add('le') : labels]
    }),
  )
}

const WORDS = new Set(['and', 'or', 'unless', 'by', 'without', 'on', 'ignoring', 'group_left', 'group_right', 'bool'])

interface Asked {
  metric: string
  labels: string[]
}

/** The metrics of a query, each with the labels that it is asked for by, and the labels by which the query groups. */
function askedIn(query: string): { metrics: Asked[]; groups: string[] } {
  const bare = query.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\[[^\]]*\]/g, '')
  const groups = [...bare.matchAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g)]
  const rest = bare.replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
  const metrics = [...rest.matchAll(/\b([a-z_]\w*)\s*(\{[^}]*\}|\()?/g)].flatMap(([, name = '', next = '']) => {
    if (next === '(' || WORDS.has(name)) return []
    return [{ metric: name, labels: [...next.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label) }]
  })
  const by = groups.flatMap(([, list = '']) => list.split(',').map((label) => label.trim()))
  return { metrics, groups: by.filter((label) => label !== '') }
}

/** What a query asks for that no server has. */
function unknownIn(query: string, more: readonly string[] = []): string[] {
  const { metrics, groups } = askedIn(query.replaceAll('$__rate_interval', '5m'))
  const isKnown = (metric: string, label: string) => OF_PROMETHEUS.includes(label) || known.get(metric)?.has(label)
  return [
    ...metrics.filter(({ metric }) => !known.has(metric)).map(({ metric }) => metric),
    ...metrics.flatMap(({ metric, labels }) =>
      labels.filter((label) => !isKnown(metric, label)).map((label) => `${metric}{${label}}`),
    ),
    ...[...groups, ...more].filter((label) => !metrics.some(({ metric }) => isKnown(metric, label))),
  ]
}

describe('the dashboard', () => {
  test.each(panels)('$title asks for what there is: $expr', ({ expr, legendFormat }) => {
    const inLegend = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)

    expect(unknownIn(expr, inLegend)).toEqual([])
  })

  test('shows every metric but the few that others contain', () => {
    const shown = new Set(panels.flatMap(({ expr }) => askedIn(expr).metrics.map(({ metric }) => metric)))
    const families = [...documented.keys()].filter(
      (name) => !['', '_bucket', '_sum', '_count'].some((suffix) => shown.has(`${name}${suffix}`)),
    )

    expect(families.sort()).toEqual([
      'quarterdeck_http_requests_in_work',
      'quarterdeck_late_tool_errors_total',
      'quarterdeck_readers',
      'quarterdeck_state',
      'quarterdeck_telemetry_sent_total',
      'quarterdeck_tokens_total',
    ])
  })
})

describe('the alerts', () => {
  test.each(alerts)('$alert asks for what there is', ({ expr }) => {
    expect(unknownIn(expr)).toEqual([])
  })

  test('are told from each other, and the check finds a mistake', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
    expect(unknownIn('sum by (nobody) (rate(quarterdeck_no_such_total{what="x"}[5m]))')).toEqual([
      'quarterdeck_no_such_total',
      'quarterdeck_no_such_total{what}',
      'nobody',
    ])
    expect(unknownIn('quarterdeck_runs{outcome="failed"} > 3')).toEqual(['quarterdeck_runs{outcome}'])
  })
})

describe('the labels on the page', () => {
  test('are those that a server shows', () => {
    const wrong = [...documented].filter(([name, labels]) => {
      const shown = known.get(name) ?? known.get(`${name}_sum`)
      return shown === undefined || [...labels].sort().join() !== [...shown].sort().join()
    })

    expect(wrong).toEqual([])
  })
})

const NO_PROMTOOL =
  'promtool is missing, so Prometheus has not read the alerts and the dashboard. Debian: apt-get install --no-install-recommends prometheus'
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool && process.env.QUARTERDECK_REQUIRE_PROMTOOL === '1') throw new Error(NO_PROMTOOL)
// biome-ignore lint/suspicious/noConsole: a skipped test must be seen.
if (!hasPromtool) console.warn(NO_PROMTOOL)

describe.skipIf(!hasPromtool)('promtool', () => {
  const promtool = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
    return { status, said: `${stdout}${stderr}` }
  }

  test('can read the alerts', () => {
    expect(promtool('check', 'rules', join(root, 'deploy/prometheus/alerts.yaml'))).toMatchObject({ status: 0 })
  })

  test('sees the alerts fire when they should', () => {
    expect(promtool('test', 'rules', join(root, 'deploy/prometheus/alerts.test.yaml'))).toMatchObject({ status: 0 })
  })

  test('can read every query of the dashboard', () => {
    const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-rules-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'rules.yaml')
    const rules = panels.map(({ expr }, i) => ({
      record: `panel:${i}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }))
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }))

    expect(promtool('check', 'rules', file)).toMatchObject({ status: 0 })
  })
})
