// The Helm chart. Where `helm` is on the machine, it lints and renders the chart, and the result is looked at. Without it, the values
// and the templates are only held against each other: that finds names that do not exist, not what a template renders.

import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Validator } from '@cfworker/json-schema'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import { settings } from '../../src/config/settings/settings.ts'
import { findProgram } from './find-program.ts'

const root = join(import.meta.dirname, '../..')
const chart = join(root, 'deploy/helm/quarterdeck')
const read = (file: string): string => readFileSync(join(chart, file), 'utf8')
const templates = globSync('templates/*', { cwd: chart })
const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const values: Record<string, unknown> = parse(read('values.yaml'))
const known = [...Object.values(settings).flatMap(({ env }) => env)]

describe('the chart', () => {
  test('has the version of the program', () => {
    expect(parse(read('Chart.yaml'))).toMatchObject({
      apiVersion: 'v2',
      name: 'quarterdeck',
      version,
      appVersion: version,
    })
  })

  test('has values that its schema allows, and a schema that knows no others', () => {
    const validator = new Validator(JSON.parse(read('values.schema.json')), '7', false)
    expect(validator.validate(values)).toEqual({ valid: true, errors: [] })
    expect(validator.validate({ ...values, replica: 3 }).valid).toBe(false)
    expect(validator.validate({ ...values, env: { port: '1' } }).valid).toBe(false)
    const { properties }: { properties: object } = JSON.parse(read('values.schema.json'))
    expect(Object.keys(properties).filter((name) => name !== 'global')).toEqual(Object.keys(values))
  })

  test('uses every value, and none that does not exist', () => {
    const at = (path: string): unknown =>
      path.split('.').reduce<unknown>((value, key) => Reflect.get(Object(value), key), values)
    const used = templates.flatMap((file) =>
      [...read(file).matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path),
    )
    expect(used.filter((path) => at(path) === undefined)).toEqual([])
    expect(Object.keys(values).filter((name) => !used.some((path) => path.split('.')[0] === name))).toEqual([])
  })

  test.each(templates)('closes in %s what it opens', (file) => {
    const actions = [...read(file).matchAll(/\{\{-? *(if|with|range|define|end)\b/g)].map(([, word]) => word)
    expect(actions.filter((word) => word === 'end').length * 2).toBe(actions.length)
    expect(read(file).split('{{').length).toBe(read(file).split('}}').length)
  })

  test('includes only what it defines, and sets only variables that exist', () => {
    const all = templates.map(read).join('\n')
    const namesIn = (pattern: RegExp) => new Set([...all.matchAll(pattern)].map(([, name]) => name))
    expect(namesIn(/include "([\w.]+)"/g)).toEqual(namesIn(/define "([\w.]+)"/g))
    expect([...namesIn(/\b(QUARTERDECK_\w+)/g)].filter((name) => !known.includes(name ?? ''))).toEqual([])
  })

  test('gives the job that migrates what a server has to reach the database, such as a file with its certificate', () => {
    const includes = (file: string) => [...read(file).matchAll(/include "quarterdeck\.(environment|secret|mounts)"/g)]
    const names = (file: string) => new Set(includes(file).map(([, name]) => name))
    expect(names('templates/migrate.yaml')).toEqual(names('templates/deployment.yaml'))
  })
})

const helm = findProgram('helm', 'see helm.sh; Debian has no package of it', false)
const STORE = 'secret.values.QUARTERDECK_STORE=postgres://u:p@db:5432/quarterdeck'

type Manifest = Record<string, unknown> & { kind: string }

async function render(...set: string[]): Promise<Manifest[]> {
  const args = ['template', 'deck', chart, '--is-upgrade', '--kube-version', '1.30.0', '--namespace', 'team']
  const { stdout } = await promisify(execFile)(helm ?? '', [...args, ...set.flatMap((value) => ['--set', value])])
  return parseAllDocuments(stdout, { uniqueKeys: true }).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS()
  })
}

describe.skipIf(helm === null)('helm', () => {
  test('finds no mistake', async () => {
    const { stdout } = await promisify(execFile)(helm ?? '', ['lint', '--strict', chart, '--set', STORE])
    expect(stdout).toContain('0 chart(s) failed')
  })

  test('renders what a cluster needs, and more where it is asked to', async () => {
    const kinds = async (...set: string[]) => (await render(STORE, ...set)).map(({ kind }) => kind).toSorted()
    const always = ['ConfigMap', 'Deployment', 'Job', 'PodDisruptionBudget', 'Secret', 'Service', 'ServiceAccount']
    expect(await kinds()).toEqual(always)
    const more = ['ingress', 'autoscaling', 'serviceMonitor'].map((name) => `${name}.enabled=true`)
    expect(await kinds(...more)).toEqual([...always, 'HorizontalPodAutoscaler', 'Ingress', 'ServiceMonitor'].toSorted())
    const without = ['migrate', 'podDisruptionBudget'].map((name) => `${name}.enabled=false`)
    expect(await kinds(...without, 'serviceAccount.create=false')).toEqual([
      ...['ConfigMap', 'Deployment', 'Secret', 'Service'],
    ])
  })

  test('makes pods that can be watched, end in peace, and may do nothing', async () => {
    const all = await render(STORE, 'ingress.enabled=true', 'env.QUARTERDECK_LOG_LEVEL=warn')
    const pod = all.find(({ kind }) => kind === 'Deployment')
    expect(pod).toMatchObject({
      spec: {
        replicas: 2,
        strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: {
          spec: {
            terminationGracePeriodSeconds: 40,
            automountServiceAccountToken: false,
            securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [
              {
                image: `quarterdeck:${version}`,
                env: [
                  {
                    name: 'QUARTERDECK_ALLOWED_HOSTS',
                    value: 'agent.example.com,deck-quarterdeck,deck-quarterdeck.team.svc',
                  },
                  { name: 'QUARTERDECK_SHUTDOWN_DRAIN', value: '20s' },
                  { name: 'QUARTERDECK_LOG_LEVEL', value: 'warn' },
                ],
                envFrom: [{ secretRef: { name: 'deck-quarterdeck' } }],
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ['ALL'] },
                },
                livenessProbe: { httpGet: { path: '/live', port: 'http' } },
                readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
                lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } },
              },
            ],
          },
        },
      },
    })
    const job = all.find(({ kind }) => kind === 'Job')
    expect(job).toMatchObject({
      metadata: { annotations: { 'helm.sh/hook': 'pre-upgrade' } },
      spec: {
        template: {
          spec: {
            containers: [
              {
                args: ['migrate'],
                env: expect.arrayContaining([{ name: 'QUARTERDECK_LOG_LEVEL', value: 'warn' }]),
                volumeMounts: expect.arrayContaining([{ name: 'agent', mountPath: '/agent', readOnly: true }]),
              },
            ],
            volumes: expect.arrayContaining([
              { name: 'agent', configMap: { name: 'deck-quarterdeck', optional: true } },
            ]),
          },
        },
      },
    })
  })

  test('puts agents and settings into files that the server accepts', async () => {
    const all = await render(STORE, 'settings.limits.queue=4', 'settings.log.level=warn')
    const map = all.find(({ kind }) => kind === 'ConfigMap') as { data?: Record<string, string> } | undefined
    expect(Object.keys(map?.data ?? {})).toEqual(['agent.yaml', 'quarterdeck.yaml'])
    expect(parse(map?.data?.['agent.yaml'] ?? '')).toMatchObject({ name: 'assistant' })
    const file = { path: 'quarterdeck.yaml', text: map?.data?.['quarterdeck.yaml'] ?? '' }
    const { settings: resolved } = resolveSettings({ flags: {}, env: {}, file, onTerminal: false })
    expect(resolved.limits.queue).toBe(4)
  })

  test('says what is missing or wrong', async () => {
    const fails = (...set: string[]) => expect(render(...set)).rejects
    await fails().toThrow('Set secret.existingSecret, or secret.values.QUARTERDECK_STORE')
    await fails('secret.values.QUARTERDECK_STORE=sqlite').toThrow('postgres://user:password@host:5432/database')
    await fails(STORE, 'replica=3').toThrow('replica is not allowed')
    await fails(STORE, 'agent.existingConfigMap=mine', 'settings.port=1').toThrow('exclude each other')
    const own = await render('secret.existingSecret=mine', 'agent.existingConfigMap=ours')
    expect(own.filter(({ kind }) => kind === 'Secret' || kind === 'ConfigMap')).toEqual([])
    expect(JSON.stringify(own)).toContain('"secretRef":{"name":"mine"}')
  })
})
